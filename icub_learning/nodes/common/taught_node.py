"""What the nodes share that are taught objects: a model file that outlives them, and answers to their services."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from icub_learning.errors import IcubLearningError
from icub_learning.models.header import ModelHeader
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.spinning import ManagedNode

ModelT = TypeVar("ModelT")


class TaughtNode(ManagedNode):
    """A node whose services change what it was taught, and which keeps that in a model file.

    A subclass says in `_describe` and `_state` what there is to keep, calls `_keep_model` at
    configure, `_save_now` at deactivate, and passes answers through `_answer` and `_answer_later`.
    """

    def _describe(self) -> ModelHeader:
        """Return the description of what was taught."""
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        """Return what was taught, also if that is nothing."""
        raise NotImplementedError

    def _may_autosave(self) -> bool:
        """Whether what was taught is complete at the moment."""
        return True

    def _keep_model(
        self, settings: dict[str, Any], largest: Callable[[], int], make: Callable[[dict[str, Any]], ModelT]
    ) -> ModelT | None:
        """Keep the model file, of at most `largest` bytes; return what `make` makes of the newest, or None."""
        self._revision = 0  # rises with each change of what was taught
        self._keeper = ModelKeeper(settings, self._describe, largest)
        self.started.callback(self._keeper.close)
        self.started.callback(self._save_now)
        loaded, lines = self._keeper.load_newest(make)
        for line in lines:
            self.get_logger().info(line) if line.startswith("loaded") else self.get_logger().warning(line)
        return loaded

    def _autosave(self) -> None:
        if self._may_autosave() and self._is_to_be_saved():
            self._keeper.autosave(self._state(), self._describe(), self._revision)

    def _save_now(self) -> None:
        if self._is_to_be_saved():
            self._keeper.save_now(self._state(), self._describe(), self._revision)

    def _is_to_be_saved(self) -> bool:
        return self._keeper.keeps and self._revision != self._keeper.saved_revision

    def _answer(self, response: Any, act: Callable[[], str]) -> Any:
        """Act for a service and answer; a refused request changes nothing, and the answer gives the reason."""
        try:
            response.success, response.message = True, act()
        except IcubLearningError as error:
            return self._refuse(response, str(error))
        return response

    async def _answer_later(self, response: Any, serve: Callable[[float], Awaitable[str]]) -> Any:
        """Answer as `_answer` does when a file has been read or written, within `answer_timeout`."""
        try:
            response.success = True
            response.message = await serve(time.monotonic() + self._keeper.answer_timeout)
        except IcubLearningError as error:
            return self._refuse(response, str(error))
        return response

    def _refuse(self, response: Any, reason: str) -> Any:
        response.success, response.message = False, reason
        self.get_logger().warning(reason)
        return response
