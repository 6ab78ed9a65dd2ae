"""Models of a node that outlive its process, and the files that services read and write."""

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.logging import get_logger

from icub_learning.errors import IcubLearningError, StateError
from icub_learning.files import check_replaceable
from icub_learning.models import ModelHeader, read_model, write_model
from icub_learning.models.files import Limit
from icub_learning.models.header import utc
from icub_learning.models.kept import KeptModels, ModelsFolder
from icub_learning.nodes.common.threads.background import Background
from icub_learning.settings import setting

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class ModelSettings:
    """Where a node keeps its models. Raises ParameterError for a value outside its range."""

    models_folder: str = setting(
        "", "folder in which services read and write models; empty: icub_learning/models in $XDG_STATE_HOME, that is"
        " ~/.local/state",
    )  # fmt: skip
    any_model_path: bool = setting(
        False, "let services read and write files anywhere, also by absolute paths, .. and symbolic links; anybody on"
        " the network can call them",
    )  # fmt: skip
    model_file: str = setting(
        "", "name in models_folder of the model that is loaded at configure, and saved at deactivate, at shutdown and"
        " every autosave_period; empty: what is learned ends with the process",
    )  # fmt: skip
    autosave_period: float = setting(
        60.0, "time between two savings of model_file while something is learned", unit="s", low=0.1, high=86400.0
    )
    keep_models: int = setting(
        5, "number of files kept of model_file: the two newest, and older ones ever further apart", low=1, high=10000
    )
    answer_timeout: float = setting(
        10.0, "longest time until a service about models answers", unit="s", low=0.1, high=3600.0
    )


class ModelKeeper:
    """Reads and writes the models of one node, in a thread of its own. Raises StateError: `model_file` leads out of the
    folder, or another process uses it.

    Args:
        settings: values of ModelSettings, by name; and `any_urdf`, see ModelHeader.check_origin.
        describe: returns the description of the model as it would be saved now, with which files are compared.
        largest: returns the largest size that a model may have [bytes].
    """

    def __init__(
        self, settings: dict[str, Any], describe: Callable[[], ModelHeader], largest: Callable[[], Limit]
    ) -> None:
        self._folder = ModelsFolder(settings["models_folder"], anywhere=settings["any_model_path"])
        self.answer_timeout: float = settings["answer_timeout"]
        self.failure = ""  # why the last model could not be loaded or saved
        self.note, self._told = "", ""  # settings that a loaded model keeps, in words, and those already reported
        self.saved = ""  # path and time of the last model that was written
        self.saved_revision = 0  # revision of the last model that was written
        self._describe, self._largest, self._any_urdf = describe, largest, settings.get("any_urdf", False)
        name = settings["model_file"]
        self._kept = KeptModels(self._folder.path(name), settings["keep_models"], largest()) if name else None
        self._background = Background()
        self._autosaving: Future[None] | None = None

    def deadline(self) -> float:
        """Return when a service that is called now must have answered [s, time.monotonic()]."""
        return time.monotonic() + self.answer_timeout

    def lacks(self, revision: int) -> bool:
        """Return whether there is a model file, and this revision of what was learned is not in it."""
        return self._kept is not None and revision != self.saved_revision

    def load_newest(self, make: Callable[[dict[str, Any]], ResultT], logger: Any) -> ResultT | None:
        """Return what `make` returns for the newest valid state, None without one; log the file that it came from.

        The reasons why newer files were refused are logged, and become `failure`.
        """
        if self._kept is None:
            return None

        def checked(state: dict[str, Any], header: ModelHeader | None) -> ResultT:
            self._check(header)
            return make(state)

        made, path, refusals = self._kept.load(checked)
        for refusal in refusals:
            self.failure = f"refused: {'; '.join(refusals)}"
            logger.warning(refusal)
        found = "no model that can be taken" if refusals else "no model to start with"
        fresh = f"{self._kept.path}: {found}, nothing is learned yet"
        logger.info(fresh if path is None else f"loaded {path}")
        if self.note:
            logger.warning(self.note)
        try:
            check_replaceable(self._kept.path)
        except OSError as error:
            logger.warning(f"what is learned cannot be saved: {error}")
        return made

    def check(self, name: str) -> "Future[Any]":
        """Check a name in the background, before work is done for it; the result is its path."""
        return self._background.submit(lambda: self._folder.path(name))

    def read(self, name: str) -> "Future[Any]":
        """Read and check the state of a model in the background; a failure is an IcubLearningError."""

        def read() -> dict[str, Any]:
            state, header = read_model(self._folder.path(name), self._largest())
            self._check(header)
            return state

        return self._background.submit(read)

    def write(self, name: str, state: dict[str, Any], header: ModelHeader) -> "Future[Any]":
        """Write a model in the background, in place of an older one unless that is of another kind; the result says
        where, and what it replaced."""

        def write() -> str:
            path, there = self._folder.path(name), None
            with suppress(StateError):  # there is none, or a damaged one
                _, there = read_model(path)
            if there is not None and there.kind != header.kind:
                bound = f"the name of a new model or of one of {header.kind}"
                text = f"{path} holds a model of {there.kind}, which stays as it is: name another file"
                raise StateError(text, name="path", value=name, bound=bound)
            replaced = f", in place of the model of {utc(path.stat().st_mtime)}" if path.exists() else ""
            return f"saved to {write_model(path, state, header)}{replaced}"

        return self._background.submit(write)

    def autosave(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        """Write the model file in the background, unless the last one is still being written."""
        if self._kept is not None and (self._autosaving is None or self._autosaving.done()):
            self._autosaving = self._background.submit(lambda: self._save(state, header, revision))

    def save_now(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        """Write the model file, and wait for it, at most `answer_timeout`; an error is logged and becomes `failure`."""
        if not self.lacks(revision):
            return
        job = self._background.submit(lambda: self._save(state, header, revision))
        if not wait([job], self.answer_timeout).done:
            self.failure = f"the model was not saved within {self.answer_timeout:g} s"
        if self.failure:
            get_logger("model_file").error(f"{self.failure}; the last one that was saved: {self.saved or 'none'}")

    def status(self) -> dict[str, object]:
        if self._kept is None:
            return {"model file": "none: what is learned ends with the process", "model settings": self.note}
        saved = {"model saved": self.saved or "not yet", "model problem": self.failure, "model settings": self.note}
        return {"model file": self._kept.path, **saved}

    def verdict(self, running: str) -> tuple[bytes, str]:
        """Return level and summary of diagnostics: `running`, a `failure` or, once, the `note`."""
        told, self._told = self._told, self.note
        problem = self.failure or (self.note if self.note != told else "")
        return (DiagnosticStatus.WARN, problem) if problem else (DiagnosticStatus.OK, running)

    def close(self) -> None:
        """End the thread and let others use the model file."""
        self._background.stop(self.answer_timeout)
        if self._kept is not None:
            self._kept.close()

    def _check(self, header: ModelHeader | None) -> None:
        if header is not None:  # files of an earlier release have none; the learner checks what it needs itself
            header.check_origin(self._describe(), any_urdf=self._any_urdf)

    def _save(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        assert self._kept is not None
        try:
            path = self._kept.save(state, header)
        except (IcubLearningError, OSError) as error:
            if not self.failure:
                get_logger("model_file").error(f"not saved: {error}")
            self.failure = f"not saved: {error}"
            return
        self.failure, self.saved_revision = "", revision
        self.saved = f"{path} at {utc(time.time())}"
