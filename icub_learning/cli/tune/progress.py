"""What `icub-learning tune` has found so far, in a file that survives a kill at any moment."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError
from icub_learning.files import replacing

VERSION = 1  # of what a result means


class Progress:
    """Results by key, written after each one: the file is always whole.

    Args:
        path: of the file.
        identity: of the data and the settings that the results belong to, see `fingerprint`.

    Attributes:
        results: by key.
        n_known: how many of them were in the file at the start.

    Raises:
        ParameterError: the file cannot be read.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self._identity = identity
        self.results: dict[str, Any] = {}
        self.of_another_run = False
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["identity"] == identity:
                self.results = {str(key): _from_json(value) for key, value in found["results"].items()}
            else:
                self.of_another_run = True
        except FileNotFoundError:
            pass
        except OSError as error:
            raise ParameterError("--parameters", str(path), f"a file that can be read ({error.strerror})") from error
        except (ValueError, KeyError, TypeError, AttributeError):
            self.of_another_run = True  # not ours, or of another release
        self.n_known = len(self.results)

    def add(self, key: str, result: Any) -> None:
        """Keep one more. Raises ParameterError if the file cannot be written."""
        self.results[key] = result
        text = json.dumps({"identity": self._identity, "results": _to_json(self.results)})
        try:
            with replacing(self.path, "w") as file:
                file.write(text)
        except OSError as error:
            raise ParameterError(
                "--parameters", str(self.path), f"beside a folder that can be written ({error.strerror})"
            ) from error

    def done(self) -> None:
        """All is found and written elsewhere: remove the file."""
        self.path.unlink(missing_ok=True)


def complete(
    progress: Progress, keys: Sequence[str], measure: Callable[[int], Any], what: str = "paths"
) -> dict[str, Any]:
    """The results of all keys: those that are known, and the others measured, one after the other, with a bar.

    Args:
        progress: what is known; each result is kept there at once.
        keys: of all results.
        measure: gives the result of the key at a place of `keys`.
        what: is counted.
    """
    from tqdm import tqdm

    known = sum(key in progress.results for key in keys)
    if progress.of_another_run and not known:
        print(f"{progress.path} is of other data or settings: started anew", flush=True)
        progress.of_another_run = False
    if known:
        print(f"resumed: {known} of {len(keys)} {what} were found before, in {progress.path}", flush=True)
    missing: Iterable[int] = [place for place, key in enumerate(keys) if key not in progress.results]
    for place in tqdm(missing, what, len(keys), initial=known, disable=None, leave=False, unit="path"):
        progress.add(keys[place], measure(place))
    return {key: progress.results[key] for key in keys}


def fingerprint(arrays: Iterable[Array], settings: Any) -> str:
    """One text for data and settings; other data or settings give another."""
    digest = hashlib.sha256(repr((VERSION, settings)).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _to_json(value: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(value, dict):
        return {key: _to_json(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json(entry) for entry in value]
    return value if math.isfinite(value) else None


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(entry) for entry in value]
    return math.inf if value is None else float(value)
