"""Services and automatic saving that use the estimator in the learning thread while predictions go on."""

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from typing import Any

from icub_learning.dynamics.fleet import keep_tare
from icub_learning.dynamics.saved_model import ModelDescription
from icub_learning.errors import StateError
from icub_learning.models.ledger import accounted
from icub_learning.nodes.common.model_keeper import ModelKeeper
from icub_learning.nodes.common.threads.background import finished, until
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.srv import ModelFile


class ModelServices:
    """Saves, loads and merges models within the time that `keeper` allows; `warn` logs what is lost or kept."""

    def __init__(
        self, learner: LearningThread, keeper: ModelKeeper, description: ModelDescription, warn: Callable[[str], Any]
    ) -> None:
        self._learner, self._keeper, self._description, self._warn = learner, keeper, description, warn
        self._checkpointed = 0  # revision of the last checkpoint

    async def ask(self, act: Callable[[Any], Any], deadline: float = 0.0, **kind: bool) -> Any:
        """Return what `act` returns in the learning thread; for `kind` see LearningThread.ask. Raises StateError: it
        was not done by `deadline` [s, time.monotonic()]; 0: the deadline of a service called now."""
        answer = self._learner.ask(act, **kind)
        if not await until(answer.done, (deadline or self._keeper.deadline()) - time.monotonic()):
            outcome = "the request is withdrawn, nothing was changed" if answer.cancel() else "it is still under way"
            raise StateError(f"not done within {self._keeper.answer_timeout:g} s: {outcome}")
        return answer.result()

    async def save(self, request: ModelFile.Request, _response: Any) -> str:
        name, deadline = request.path, self._keeper.deadline()
        await finished(self._keeper.check(name), deadline)
        state, n_samples = await self.ask(lambda one: (accounted(one), one.n_samples), deadline, changes=False)
        header = self._description.header(n_samples, state)
        return str(await finished(self._keeper.write(name, state, header), deadline))

    async def load(self, request: ModelFile.Request, _response: Any) -> str:
        def exchange(estimator: Any, state: dict[str, Any]) -> tuple[Any, str]:
            loaded, note = self._description.restored(type(estimator), state, estimator.regressor)
            self._keeper.note = note
            if note:
                self._warn(note)
            kept = "; this robot's tare is kept" if keep_tare(estimator, loaded) else ""
            return loaded, f"loaded a model of {loaded.n_samples} samples{kept}{note and f'; {note}'}"

        return await self._ask_with_model(request.path, exchange, exchanges=True)

    async def merge(self, request: ModelFile.Request, _response: Any) -> str:
        def pool(estimator: Any, state: dict[str, Any]) -> str:
            other, before = type(estimator).from_state(state, estimator.regressor), estimator.n_samples
            estimator.merge(other)
            new = estimator.n_samples - before
            return f"merged {new} samples that are new; the model now holds {estimator.n_samples}"

        return await self._ask_with_model(request.path, pool)

    def autosave(self) -> None:
        """Save the present state if it has changed; return at once."""
        if self._keeper.lacks(self._learner.revision):
            self._learner.checkpoint().add_done_callback(partial(self._save, self._keeper.autosave))

    def checkpoint(self) -> None:
        """Keep the present state, if it has changed, as the one to restore after a failure; return at once."""
        if self._learner.revision != self._checkpointed:
            self._checkpointed = self._learner.revision
            self._learner.checkpoint()

    def save_now(self) -> None:
        """Save what has been learned, and wait for it, within the time that `keeper` allows."""
        if not self._keeper.lacks(self._learner.revision):
            return
        kept = self._learner.checkpoint()
        if wait([kept], self._keeper.answer_timeout).done and not kept.exception():
            self._save(self._keeper.save_now, kept)
        else:
            self._warn("the model could not be saved: the learning thread did not answer")

    def stop(self) -> None:
        """End the learning thread and save what it has learned."""
        self._learner.stop(self._keeper.answer_timeout)
        if self._keeper.lacks(self._learner.revision):
            state, n_samples = self._learner.final_state()
            self._keeper.save_now(state, self._description.header(n_samples, state), self._learner.revision)

    def _save(self, save: Callable[..., None], kept: "Future[Any]") -> None:
        if not kept.exception():
            state, n_samples, revision = kept.result()
            save(state, self._description.header(n_samples, state), revision)

    async def _ask_with_model(self, name: str, act: Callable[[Any, dict[str, Any]], Any], **kind: bool) -> Any:
        deadline = self._keeper.deadline()
        state = await finished(self._keeper.read(name), deadline)
        return await self.ask(lambda estimator: act(estimator, state), deadline, **kind)
