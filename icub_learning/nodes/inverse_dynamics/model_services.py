"""What services and the model file do with the estimator in the learning thread, while predictions go on."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from icub_learning.dynamics.saved_model import ModelDescription
from icub_learning.errors import StateError
from icub_learning.models.ledger import accounted
from icub_learning.nodes.common.model_keeper import ModelKeeper, finished
from icub_learning.nodes.common.waiting import until
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread

# What the learning thread does: it takes the estimator, and returns it or another one, and a message.
Act = Callable[[Any], tuple[Any, str]]


class ModelServices:
    """Saves, loads and merges models, within the time that `keeper` allows; a refused request changes nothing.

    Files are read and written in the thread of `keeper`; the learning thread only exchanges or pools what it has.
    `warn` logs why a request was refused.
    """

    def __init__(
        self, learner: LearningThread, keeper: ModelKeeper, description: ModelDescription, warn: Callable[[str], Any]
    ) -> None:
        self._learner, self._keeper, self._description, self._warn = learner, keeper, description, warn
        self._checkpointed = 0  # revision

    async def ask(self, response: Any, act: Act) -> Any:
        """Answer with what `act` says in the learning thread."""
        return await self._answer(response, lambda deadline: self._asked(act, deadline))

    async def save(self, response: Any, name: str) -> Any:
        """Save the present model under a name."""

        async def serve(deadline: float) -> str:
            await finished(self._keeper.check(name), deadline)
            taken: list[tuple[dict[str, Any], int]] = []

            def take(estimator: Any) -> tuple[Any, str]:
                taken.append((accounted(estimator), estimator.n_samples))
                return estimator, ""

            await self._asked(take, deadline, changes=False)
            state, n_samples = taken[0]
            path = await finished(self._keeper.write(name, state, self._description.header(n_samples)), deadline)
            return f"saved to {path}"

        return await self._answer(response, serve)

    async def load(self, response: Any, name: str) -> Any:
        """Continue with a model of that name."""

        def exchange(state: dict[str, Any]) -> Act:
            def act(estimator: Any) -> tuple[Any, str]:
                loaded = type(estimator).from_state(state, estimator.regressor)
                return loaded, f"loaded a model of {loaded.n_samples} samples"

            return act

        return await self._answer(response, lambda deadline: self._read(name, exchange, deadline))

    async def merge(self, response: Any, name: str) -> Any:
        """Pool the present model with one of that name."""

        def pool(state: dict[str, Any]) -> Act:
            def act(estimator: Any) -> tuple[Any, str]:
                other, before = type(estimator).from_state(state, estimator.regressor), estimator.n_samples
                estimator.merge(other)
                new = estimator.n_samples - before
                return estimator, f"merged {new} samples that are new; the model now holds {estimator.n_samples}"

            return act

        return await self._answer(response, lambda deadline: self._read(name, pool, deadline))

    def autosave(self) -> None:
        """Save the present state, if it has changed; returns at once."""
        if self._keeper.keeps and self._learner.revision != self._keeper.saved_revision:
            self._learner.checkpoint(self._autosave)

    def checkpoint(self) -> None:
        """Keep the present state as the one to go back to if learning fails, if it has changed; returns at once."""
        if self._learner.revision != self._checkpointed:
            self._checkpointed = self._learner.revision
            self._learner.checkpoint()

    def save_now(self) -> None:
        """Save what has been learned, and wait for it, within the time that `keeper` allows."""
        if not self._keeper.keeps or self._learner.revision == self._keeper.saved_revision:
            return
        taken: list[tuple[dict[str, Any], int, int]] = []
        self._learner.checkpoint(lambda *state: taken.append(state)).done.wait(self._keeper.answer_timeout)
        if taken:
            state, n_samples, revision = taken[0]
            self._keeper.save_now(state, self._description.header(n_samples), revision)
        else:
            self._warn("the model could not be saved: the learning thread did not answer")

    def stop(self) -> None:
        """End the learning thread and save what it has learned."""
        self._learner.stop(self._keeper.answer_timeout)
        if self._keeper.keeps and self._learner.revision != self._keeper.saved_revision:
            state, n_samples = self._learner.final_state()
            self._keeper.save_now(state, self._description.header(n_samples), self._learner.revision)

    def _autosave(self, state: dict[str, Any], n_samples: int, revision: int) -> None:
        self._keeper.autosave(state, self._description.header(n_samples), revision)

    async def _answer(self, response: Any, serve: Callable[[float], Awaitable[str]]) -> Any:
        return await self._keeper.answer(response, serve, self._warn)

    async def _read(self, name: str, make: Callable[[dict[str, Any]], Act], deadline: float) -> str:
        state = await finished(self._keeper.read(name), deadline)
        return await self._asked(make(state), deadline)

    async def _asked(self, act: Act, deadline: float, *, changes: bool = True) -> str:
        request = self._learner.ask(act, changes=changes)
        if not await until(request.done.is_set, deadline - time.monotonic()):
            withdrawn = request.take()
            outcome = "the request is withdrawn, nothing was changed" if withdrawn else "it is still under way"
            raise StateError(f"not done within {self._keeper.answer_timeout:g} s: {outcome}")
        if not request.success:
            raise StateError(request.message)
        return request.message
