"""Models of a node that outlive its process, and the files that services read and write."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from diagnostic_msgs.msg import DiagnosticStatus

from icub_learning.errors import IcubLearningError, StateError
from icub_learning.models.files import read_model, write_model
from icub_learning.models.header import ModelHeader
from icub_learning.models.kept import KeptModels, ModelsFolder
from icub_learning.nodes.common.background import Background, Job
from icub_learning.nodes.common.waiting import until
from icub_learning.settings import setting

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class ModelSettings:
    """Where a node keeps its models. Raises ParameterError for a value outside its range."""

    models_folder: str = setting(
        "",
        "folder in which services read and write models; empty: icub_learning/models in $XDG_STATE_HOME, that is"
        " ~/.local/state",
    )
    any_model_path: bool = setting(
        False,
        "let services read and write files anywhere, also by absolute paths, .. and symbolic links; anybody on the"
        " network can call them",
    )
    model_file: str = setting(
        "",
        "name in models_folder of the model that is loaded at configure, and saved at deactivate, at shutdown and every"
        " autosave_period; empty: what is learned ends with the process",
    )
    autosave_period: float = setting(
        60.0, "time between two savings of model_file while something is learned", unit="s", low=0.1, high=86400.0
    )
    keep_models: int = setting(
        5, "number of files kept of model_file, the newest and those before it", low=1, high=10000
    )
    answer_timeout: float = setting(
        10.0, "longest time until a service about models answers", unit="s", low=0.1, high=3600.0
    )


class ModelKeeper:
    """Reads and writes the models of one node, in a thread of its own. Raises StateError: `model_file` leads out of the
    folder, or another process uses it.

    Args:
        settings: values of ModelSettings, by name.
        describe: returns the description of the model as it would be saved now, to compare others with.
        largest: number of bytes that a model may have.
        any_urdf: see ModelHeader.check_origin.
    """

    def __init__(
        self,
        settings: dict[str, Any],
        describe: Callable[[], ModelHeader],
        largest: Callable[[], int],
        any_urdf: bool = False,
    ) -> None:
        self.folder = ModelsFolder(settings["models_folder"], anywhere=settings["any_model_path"])
        self.answer_timeout: float = settings["answer_timeout"]
        self.period: float = settings["autosave_period"]
        self.failure = ""  # why the last model could not be loaded or saved
        self.saved = ""  # where the last one was written
        self.saved_revision = 0  # of the last one that was written
        self._describe, self._largest, self._any_urdf = describe, largest, any_urdf
        name = settings["model_file"]
        self._kept = KeptModels(self.folder.path(name), settings["keep_models"], largest()) if name else None
        self._background = Background()
        self._autosaving: Job | None = None

    @property
    def keeps(self) -> bool:
        """Whether there is a model file."""
        return self._kept is not None

    def load_newest(self, make: Callable[[dict[str, Any]], ResultT]) -> tuple[ResultT | None, list[str]]:
        """Return what `make` makes of the newest good state, None without one, and what to log in words.

        Why newer files were refused becomes `failure` as well.
        """
        if self._kept is None:
            return None, []

        def checked(state: dict[str, Any], header: ModelHeader | None) -> ResultT:
            self._check(header)
            return make(state)

        made, path, refusals = self._kept.load(checked)
        if refusals:
            self.failure = f"refused: {'; '.join(refusals)}"
        if path is not None:
            return made, [*refusals, f"loaded {path}"]
        return None, [*refusals, f"{self._kept.path}: starting with nothing learned"]

    def check(self, name: str) -> Job:
        """Have a name checked before work is done for it; the result is its path."""
        return self._background.submit(lambda: self.folder.path(name))

    def read(self, name: str) -> Job:
        """Have the state of a model read and checked; a failure is an IcubLearningError."""

        def read() -> dict[str, Any]:
            state, header = read_model(self.folder.path(name), self._largest())
            self._check(header)
            return state

        return self._background.submit(read)

    def write(self, name: str, state: dict[str, Any], header: ModelHeader) -> Job:
        """Have a model written; the result is its path."""
        return self._background.submit(lambda: write_model(self.folder.path(name), state, header))

    def autosave(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        """Have the model file written, unless the last one is still being written."""
        if self._kept is not None and (self._autosaving is None or self._autosaving.done.is_set()):
            self._autosaving = self._background.submit(lambda: self._save(state, header, revision))

    def save_now(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        """Write the model file, and wait for it, at most `answer_timeout`; what goes wrong becomes `failure`."""
        if self._kept is None or revision == self.saved_revision:
            return
        job = self._background.submit(lambda: self._save(state, header, revision))
        if not job.done.wait(self.answer_timeout):
            self.failure = f"the model was not saved within {self.answer_timeout:g} s"

    def status(self) -> dict[str, object]:
        """Return what diagnostics show."""
        if self._kept is None:
            return {"model file": "none: what is learned ends with the process"}
        return {"model file": self._kept.path, "model saved": self.saved or "not yet", "model problem": self.failure}

    def verdict(self, running: str) -> tuple[bytes, str]:
        """Return level and summary of diagnostics: `running`, unless a model could not be loaded or saved."""
        return (DiagnosticStatus.WARN, self.failure) if self.failure else (DiagnosticStatus.OK, running)

    async def answer(
        self, response: Any, serve: Callable[[float], Awaitable[str]], warn: Callable[[str], object]
    ) -> Any:
        """Answer with the text of `serve`, given its deadline [s, time.monotonic()]; `warn` is told of a refusal."""
        try:
            response.success = True
            response.message = await serve(time.monotonic() + self.answer_timeout)
        except IcubLearningError as error:
            response.success, response.message = False, str(error)
            warn(response.message)
        return response

    def close(self) -> None:
        """End the thread and let others use the model file."""
        self._background.stop(self.answer_timeout)
        if self._kept is not None:
            self._kept.close()

    def _check(self, header: ModelHeader | None) -> None:
        if header is not None:  # an earlier release wrote none; the learner checks what it needs itself
            header.check_origin(self._describe(), any_urdf=self._any_urdf)

    def _save(self, state: dict[str, Any], header: ModelHeader, revision: int) -> None:
        assert self._kept is not None
        try:
            path = self._kept.save(state, header)
        except (IcubLearningError, OSError) as error:
            self.failure = f"not saved: {error}"
            return
        self.failure, self.saved_revision = "", revision
        self.saved = f"{path} at {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC"


async def finished(job: Job, deadline: float) -> Any:
    """Wait for a job until `deadline` [s, time.monotonic()] and return its result.

    Raises StateError: it is not done by then, or there is not enough memory; IcubLearningError: as the job raised it.
    """
    if not await until(job.done.is_set, deadline - time.monotonic()):
        raise StateError("the file was not read or written in time: the disk is slow, or others wait for it too")
    return result_of(job)


def result_of(job: Job) -> Any:
    """Return the result of a job that is done. Raises what it raised, a MemoryError as StateError."""
    if isinstance(job.error, MemoryError):
        raise StateError("there is not enough memory for this model") from job.error
    if job.error is not None:
        raise job.error
    return job.result
