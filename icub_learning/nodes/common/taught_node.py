"""What nodes that are taught objects share: a model file that outlives them, lessons, and the list of objects."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rclpy.task import Future

from icub_learning.models.header import ModelHeader
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode
from icub_learning.nodes.common.threads.background import finished, until

LONGEST_LESSON = 3600.0  # [s] longest lesson that can be requested
ModelT = TypeVar("ModelT")


class TaughtNode(ManagedNode):
    """A node that is taught by services, and keeps what it was taught in a model file.

    A subclass returns in `_describe` and `_state` what is to be kept, and calls `_keep_model` at configure. A lesson
    ends by setting the result of `_lesson_over`.
    """

    _lesson_over: Future

    def _describe(self) -> ModelHeader:
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _keep_model(
        self, settings: dict[str, Any], largest: Callable[[], int], make: Callable[[dict[str, Any]], ModelT]
    ) -> ModelT | None:
        """Keep the model file, of at most `largest` bytes; return what `make` returns for the newest state, or None."""
        self._revision = 0  # number of changes of what was taught
        self._keeper = ModelKeeper(settings, self._describe, largest)
        self.started.callback(self._keeper.close)
        self.started.callback(self._save_now)
        self.create_timer(settings["autosave_period"], self._autosave)
        return self._keeper.load_newest(make, self.get_logger())

    def _autosave(self) -> None:
        if self._keeper.lacks(self._revision):
            self._keeper.autosave(self._state(), self._describe(), self._revision)

    def _save_now(self) -> None:
        if self._keeper.lacks(self._revision):
            self._keeper.save_now(self._state(), self._describe(), self._revision)
        self.exit_code = int(self._keeper.lacks(self._revision))

    _deactivated = _save_now

    async def _read(self, name: str) -> dict[str, Any]:
        return await finished(self._keeper.read(name), self._keeper.deadline())

    async def _write(self, name: str, state: Callable[[], dict[str, Any]]) -> str:
        """Write what was taught to a file whose name is checked first; return the message of the answer."""
        deadline = self._keeper.deadline()
        await finished(self._keeper.check(name), deadline)
        return str(await finished(self._keeper.write(name, state(), self._describe()), deadline))

    async def _end_of_lesson(self, seconds: float, end: Callable[[], None]) -> Any:
        """Wait for the result of `_lesson_over`, while other callbacks go on; `end` is called after `seconds`."""
        over = self._lesson_over = Future(executor=self.executor)  # another request may begin before this one goes on
        timer = self.create_timer(seconds, end)
        await until(over.done)
        self.destroy_timer(timer)
        return over.result()


def list_objects(response: Any, counts: Mapping[str, int]) -> Any:
    """Answer with the known objects and the number of examples of each."""
    response.success, response.labels, response.counts = True, list(counts), list(counts.values())
    known = ", ".join(f"{label} ({count})" for label, count in counts.items())
    response.message = known or "nothing has been taught yet"
    return response
