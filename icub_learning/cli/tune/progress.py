"""The intermediate results of `icub-learning tune`, in a file that is complete at any moment."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.errors import ParameterError
from icub_learning.evaluation.object_tuning import Fold
from icub_learning.files import replacing

VERSION = 3  # changes with the meaning of a result


class Progress:
    """Results by key, written to a file after each one. Raises ParameterError: the file cannot be read.

    `identity` is the fingerprint of the data and settings that they belong to; results `of_another_run` do not count.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self._identity = identity
        self.results: dict[str, Any] = {}
        self.of_another_run = False
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            self.of_another_run = found["identity"] != identity
            if not self.of_another_run:
                self.results = dict(found["results"])
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ParameterError("--parameters", str(path), f"a file that can be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            self.of_another_run = True  # not ours, or of another release

    def add(self, key: str, result: Any) -> None:
        """Add one result and write the file. Raises ParameterError if it cannot be written."""
        self.results[key] = result
        text = json.dumps({"identity": self._identity, "results": self.results})
        try:
            with replacing(self.path, "w") as file:
                file.write(text)
        except OSError as error:
            raise ParameterError(
                "--parameters", str(self.path), f"beside a folder that can be written ({error.strerror})"
            ) from error

    def done(self) -> None:
        """Remove the file, once the results are no longer needed."""
        self.path.unlink(missing_ok=True)


def complete(progress: Progress, keys: Sequence[str], measure: Callable[[int], Any]) -> dict[str, Any]:
    """Return the results of all keys: those known, and the others, measured in turn by index in `keys`, and kept."""
    from tqdm import tqdm

    known = sum(key in progress.results for key in keys)
    if progress.of_another_run and not known:
        print(f"{progress.path} is of other data or settings: started anew", flush=True)
        progress.of_another_run = False
    if known:
        print(f"resumed: {known} of {len(keys)} paths were found before, in {progress.path}", flush=True)
    missing = [index for index, key in enumerate(keys) if key not in progress.results]
    for index in tqdm(missing, "paths", len(keys), initial=known, disable=None, leave=False, unit="path"):
        progress.add(keys[index], measure(index))
    return {key: progress.results[key] for key in keys}


def fingerprint(folds: Iterable[Fold], settings: Any) -> str:
    """Return a digest of the data of all folds and of settings."""
    digest = hashlib.sha256(repr((VERSION, settings)).encode())
    for fold in folds:
        for array in (fold.inputs, fold.targets, fold.later_inputs, fold.later_targets):
            digest.update(repr(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
