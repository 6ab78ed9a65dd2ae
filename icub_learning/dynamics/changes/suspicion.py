"""Suspects changes of any age: evidence that begins again and again while nothing is known to have changed."""

from collections import deque
from math import log

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import Step
from icub_learning.dynamics.changes.event import BLOCK, LOAD_AND_PUSH, LONG, RUNNING, Block
from icub_learning.dynamics.changes.evidence import Evidence, add_to_all
from icub_learning.dynamics.changes.load import Load

SHORT = 6  # [blocks] length of the evidence that finds strong changes at once


class Suspicion:
    """Evidence for a load and a push from several recent times on: what begins is the same as a push and as a pull.

    Args:
        n_outputs: m.
        false_alarms: expected number of false alarms in an hour, at most.
    """

    def __init__(self, n_outputs: int, false_alarms: float) -> None:
        self._n_outputs = n_outputs
        # Each exceeds h with exp(-h) at most, however long it is looked at (Ville 1939). In an hour so many begin, for
        # two causes and the release of a load each; the rarer long evidence fills it up to 4.
        self._threshold = log(3600.0 / BLOCK * RUNNING / SHORT * 4 / false_alarms)
        self._short: deque[tuple[int, Evidence]] = deque()  # with the numbers of the blocks where it began
        self._long: deque[tuple[int, Evidence]] = deque()

    def follow(self, block: Block, step: Step, white: Array, carried: Load | None) -> int | None:
        """Add a block; return the number of the block in which a change began, or None if nothing has changed.

        Args:
            block: all evidence begins and ends by its number, and long evidence is looked at by it.
            step, white: step of the filter for this block, and its whitened errors (m,).
            carried: the load that may have been let go, or None.
        """
        for running, longest in ((self._short, SHORT), (self._long, LONG)):
            if block.number % (longest // RUNNING) == 0:
                running.append((block.number, Evidence(self._n_outputs, LOAD_AND_PUSH)))
            while running and running[0][1].n_blocks >= longest:
                running.popleft()
        add_to_all([evidence for _, evidence in (*self._short, *self._long)], step, block.columns, white)
        best, where = -np.inf, 0
        looked = [entry for i, entry in enumerate(self._long) if i == block.number % RUNNING]  # they take time: in turn
        for begin, evidence in [*self._short, *looked]:
            if 0.5 * evidence.squares <= self._threshold:
                continue  # no cause can explain more than all there is
            found = evidence.best
            if carried is not None:
                found = max(found, evidence.log_ratio_of(-carried.parameters))
            if found > best:
                best, where = found, begin
        return where if best > self._threshold else None

    def clear(self) -> None:
        """Drop all evidence."""
        self._short.clear()
        self._long.clear()
