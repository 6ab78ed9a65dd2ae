"""Whose samples an estimator holds, so that models of a fleet are pooled without counting anything twice."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import ParameterError, StateError

SOURCES, COUNTS = "ledger.sources", "ledger.counts"  # entries of a saved state
LENGTH = 32  # characters of the name of a source
ROBOT = re.compile(r"[A-Za-z0-9_-]{1,100}")  # valid names of robots

Holdings = dict[str, int]  # source: how many of its first samples are held


def check_robot(name: str) -> str:
    """Return `name` if a robot of a fleet may have it. Raises ParameterError: it is longer, or has other characters."""
    if not ROBOT.fullmatch(name):
        raise ParameterError("robot", name, "1 to 100 letters, digits, - and _")
    return name


class Accountable(Protocol):
    """An estimator that knows whose samples it holds. What a copy learns is the copy's own."""

    ledger: "Ledger"

    @property
    def n_samples(self) -> int:
        """Number of samples that were learned."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "ledger": Ledger(held_by(self))}


OneT = TypeVar("OneT", bound=Accountable)


class Ledger:
    """The sources of an estimator's samples, and how many samples of each it holds.

    Each estimator is a source of its own since it was made or rebuilt from a file: what it learned before that belongs
    to earlier sources. A source only ever adds samples, so that a source and a number name the same samples wherever
    they are found, and two models share, of each source, the smaller of their two numbers (as version vectors do;
    Parker et al., "Detection of mutual inconsistency in distributed systems", 1983).
    """

    def __init__(self, held: Mapping[str, int] | None = None) -> None:
        self._held: Holdings = dict(held or {})
        self._source = uuid4().hex

    def holdings(self, n_samples: int) -> Holdings:
        """Return the number of samples of each source; `n_samples` is the number that the estimator has learned."""
        own = n_samples - sum(self._held.values())
        return {**self._held, **({self._source: own} if own > 0 else {})}

    def merge(self, mine: OneT, other: OneT, common: OneT | None, pool: Callable[[OneT, OneT | None], None]) -> None:
        """Pool another estimator into `mine`, the one of this ledger, so that shared samples count once.

        `pool` adds to `mine` the samples of its first argument that its second one, which may be None, does not hold;
        it is not called if the other estimator has nothing new. `common` is an estimator of exactly the samples that
        both share, which is not needed if they share none, or all of one of them. Raises ParameterError: `common` is
        needed and absent or holds other samples, or as `pool` raises; nothing changes then.
        """
        own, theirs = held_by(mine), held_by(other)
        both = shared(own, theirs)
        if both == theirs and theirs:
            return
        known = mine if both == own else common
        if both and (known is None or held_by(known) != both):
            text = f"{sum(both.values())} of its {sum(theirs.values())} samples are here already"
            bound = "pooled with `common`, a model of exactly these, so that they do not count twice"
            raise ParameterError("other", text, f"{bound} (icub-learning fleet gather keeps such models)")
        pool(other, known if both else None)
        self._held = dict(Counter(own) | Counter(theirs))
        # What is learned from now on comes after samples of others: a new source separates it from what came before.
        self._source = uuid4().hex

    @classmethod
    def from_state(cls, state: Mapping[str, Any], n_samples: int) -> "Ledger":
        """Rebuild from what `accounted` returned; a state without these entries is a source that no other model has.
        Raises StateError: the entries do not account for the samples of the estimator."""
        if SOURCES not in state:
            return cls({uuid4().hex: n_samples} if n_samples else {})
        return cls(read_holdings(state, n_samples))


def held_by(estimator: Accountable) -> Holdings:
    """Return the number of samples of each source that an estimator holds."""
    return estimator.ledger.holdings(estimator.n_samples)


def shared(one: Holdings, other: Holdings) -> Holdings:
    """Return the holdings that two models share."""
    return dict(Counter(one) & Counter(other))


def accounted(estimator: Any) -> dict[str, Array]:
    """Return the state of an estimator and, if it has a ledger, whose samples it holds: what is written to files.

    The state alone depends on settings and samples only; sources are as unique as the moments when they began.
    """
    ledger = getattr(estimator, "ledger", None)
    state: dict[str, Array] = estimator.state()
    if ledger is None:
        return state
    found = sorted(ledger.holdings(estimator.n_samples).items())
    sources = np.array([source for source, _ in found], dtype=f"<U{LENGTH}")
    return {**state, SOURCES: sources, COUNTS: np.array([count for _, count in found], dtype=np.int64)}


def read_holdings(state: Mapping[str, Any], n_samples: int | None = None) -> Holdings:
    """Return the holdings of a saved state. Raises StateError if they are invalid or not `n_samples` in all."""
    try:
        sources, counts = np.atleast_1d(state[SOURCES]), np.atleast_1d(state[COUNTS])
        found = {str(source): int(count) for source, count in zip(sources, counts, strict=True)}
    except (KeyError, TypeError, ValueError) as error:
        raise StateError(f"state does not say whose samples it holds: {error}", name=SOURCES) from None
    total = sum(found.values())
    if len(found) != len(sources) or any(count < 1 for count in found.values()):
        raise StateError("state names a source twice, or with less than one sample", name=SOURCES)
    if n_samples is not None and total != n_samples:
        raise StateError(f"state accounts for {total} of {n_samples} samples", name=COUNTS, value=total)
    return found
