"""Events, changes whose cause is not known yet: when they begin, their blocks, and the evidence for each cause."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import log

import numpy as np
from scipy.constants import g

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import BLOCK, ErrorModel, Step, UnknownMotion
from icub_learning.dynamics.changes.evidence import Evidence, add_to_all
from icub_learning.dynamics.changes.load import Load, LoadEstimate
from icub_learning.dynamics.regressors.link_effects import N_BODY, N_WRENCH, body_units, wrench_units

SHORT = 6  # [blocks] length of the evidence that finds strong changes at once
LONG = 150  # [blocks] length of the evidence that finds weak changes; as many blocks are remembered
# Prior standard deviations of the inertial parameters of a load, and of a push that is as heavy.
LOAD_AND_PUSH = body_units(), g * wrench_units()
LEAST_SIGNAL = 10.0  # least effect of such a push on some output, over the usual errors: heavy arms are given more
MOTION_ERROR = 0.1  # relative error of what a load adds, new in each block: accelerations are not known exactly
GAIN_ERROR = 0.01  # deviation of the sensor's gain errors, of each axis into each, in units of their noise
LATEST = 4  # [blocks] judged together, once per so many blocks: fewer are noisy and take time, more are late
FEWEST = 12  # [blocks] length of a grip's jolt: before, nothing counts as a load; then evidence begins again
RUNNING = 3  # pieces of evidence that run side by side, begun one after the other


class Cause(IntEnum):
    """What may have been added to the errors."""

    LOAD = 0
    PUSH = 1  # on the link, constant in the axes of the root
    PULL = 2  # constant in the outputs: what acts elsewhere on the robot, or an offset of the sensor that has jumped


@dataclass(frozen=True)
class Block:
    """The mean of the samples of BLOCK seconds."""

    number: int  # place in the sequence of all blocks
    stamp: int  # stamp of the last sample [ns]
    error: Array  # (m,) measured minus predicted by the body alone
    columns: Array  # (m, 16) what the load's parameters and a push add
    step: Step  # the filter's step
    state: Array  # (2 m, 1) state of the filter before it, with what was known of the load then
    novelty: Array | None  # (m,) excess of the variance that the body predicts over the usual one; None: nowhere
    passed: float  # time since the block before, in usual periods

    @property
    def load_columns(self) -> Array:
        """Return the columns (m, 10) of the load's parameters."""
        return self.columns[:, :N_BODY]

    @property
    def push_columns(self) -> Array:
        """Return the columns (m, 6) of a push."""
        return self.columns[:, N_BODY:]

    def added(self, load: Load | None) -> Array:
        """Return what a load adds to the error, (m,); zeros without one."""
        return np.zeros(len(self.error)) if load is None else np.asarray(self.load_columns @ load.parameters)

    def without(self, load: Load | None) -> Array:
        """Return the error (m,) without what a load adds."""
        return np.asarray(self.error - self.added(load))


def priors(block: Block, usual: Array) -> tuple[Array, Array, Array]:
    """Return the prior standard deviations of each Cause: LOAD_AND_PUSH, scaled so that LEAST_SIGNAL is reached, and of
    a pull as large as what the push adds to the outputs; usual (m, m): covariance of the usual errors of a block."""
    pull = np.sqrt(((block.push_columns * LOAD_AND_PUSH[Cause.PUSH]) ** 2).sum(axis=1))
    signal = float((pull / np.sqrt(usual.diagonal())).max())
    scale = LEAST_SIGNAL / signal if 0.0 < signal < LEAST_SIGNAL else 1.0
    return scale * LOAD_AND_PUSH[Cause.LOAD], scale * LOAD_AND_PUSH[Cause.PUSH], scale * pull


class FilteredEvidence(Evidence):
    """Evidence that keeps the state (2 m, 1) of the filter that whitens its errors."""

    def __init__(self, n_outputs: int, deviations: Sequence[Array], state: Array) -> None:
        super().__init__(n_outputs, deviations)
        self.state = state
        self.level = np.zeros(n_outputs)  # mean square of what a load adds to each output
        self.estimates: tuple[Array, ...] = ()  # latest ones of the load and the push, once there are some


@dataclass
class Attempt:
    """Evidence for the causes of an event from some time on."""

    bare: FilteredEvidence  # evidence for a cause alone
    loaded: FilteredEvidence  # evidence for a cause besides the load before the event; `bare` without that
    estimate: LoadEstimate  # parameters of the load, if it is one
    unknown: UnknownMotion  # evidence that nothing was added, and that the body does not know the motion
    log_roots: float = 0.0  # sum of the logarithms of the determinants of the roots of all blocks of `bare`


@dataclass
class Event:
    """A change whose cause is not known yet, or a contact."""

    since: int  # stamp of its first sample [ns]
    before: Load | None  # the load before it, if there was one
    state: Array  # (2 m, 1) filter state before and after it: offsets last, errors of motion (the first m) do not
    noise: Array  # (m,) standard deviations of the noise of a block
    precision: Array  # (m, m) inverse covariance of a usual mean error over the blocks that show its end
    priors: tuple[Array, Array, Array]  # prior standard deviations of each Cause
    usual: Array  # (m, m) covariance of the usual errors of a block, over all times
    attempts: list[Attempt]  # begun with it, and later: gripping and letting go also jolt the arm
    n_blocks: int = 0  # blocks since its beginning


class Suspicion:
    """Evidence for a load and a push from several recent times on: at first a pull looks the same as a push.

    No more than `false_alarms` are expected in an hour."""

    def __init__(self, n_outputs: int, false_alarms: float) -> None:
        self._n_outputs = n_outputs
        # A log ratio exceeds h with probability exp(-h) at most, however long it is watched (Ville 1939). With each
        # block one may begin for each of two causes and the release of a load; rarer long evidence fills it up to 4.
        self._threshold = log(3600.0 / BLOCK * 4 / false_alarms)
        self._priors: tuple[Array, ...] = ()  # of load and push, renewed with the long evidence
        self._short: deque[tuple[int, Evidence]] = deque()  # (number of the block where it began, evidence)
        self._long: deque[tuple[int, Evidence]] = deque()

    def follow(self, block: Block, step: Step, white: Array, carried: Load | None, errors: ErrorModel) -> int | None:
        """Return the number of the block in which a change began, or None if nothing has changed.

        Args:
            block: the block to add, with its step of the filter and its whitened errors `white` (m,).
            carried: the load that may have been let go, or None; errors: tells what errors are usual."""
        if not self._priors or block.number % (LONG // RUNNING) == 0:
            self._priors = priors(block, errors.spread(1))[:2]
        for running, longest in ((self._short, SHORT), (self._long, LONG)):
            strange = running is self._short and self.may_begin(float(white @ white))
            if strange or block.number % (longest // RUNNING) == 0:
                running.append((block.number, Evidence(self._n_outputs, self._priors)))
            while running and running[0][1].n_blocks >= longest:
                running.popleft()
        add_to_all([evidence for _, evidence in (*self._short, *self._long)], step, block.columns, white)
        best, where = -np.inf, 0
        looked = [entry for i, entry in enumerate(self._long) if i == block.number % RUNNING]  # one at a time: slow
        for begin, evidence in [*self._short, *looked]:
            if not self.may_begin(evidence.squares):
                continue
            found = evidence.best
            if carried is not None:
                found = max(found, evidence.log_ratio_of(-carried.parameters))
            if found > best:
                best, where = found, begin
        return where if best > self._threshold else None

    def may_begin(self, squares: float) -> bool:
        """Return whether whitened errors of this sum of squares may be an alarm: no cause explains more than that."""
        return 0.5 * squares > self._threshold

    def clear(self) -> None:
        """Drop all evidence."""
        self._short.clear()
        self._long.clear()


class EvidenceOfCauses:
    """Makes and feeds the evidence for each Cause of an error.

    Errors of the sensor's gain may mix the outputs, as those of a sensor of wrenches do; those of joints have one each.
    """

    def __init__(self, n_outputs: int, mixed: bool) -> None:
        self._n_outputs = n_outputs
        axes = np.arange(n_outputs)
        every = np.repeat(axes, n_outputs), np.tile(axes, n_outputs)
        self._gain_rows, self._gain_sources = every if mixed else (axes, axes)
        # Columns of evidence with gains: the load, the gain errors of what it adds, the same of the push, and the pull.
        n_gains = len(self._gain_rows)
        ends = np.cumsum([N_BODY, n_gains, N_WRENCH, n_gains, n_outputs])
        self._columns = np.zeros((n_outputs, ends[-1]))
        self._columns[:, ends[3] :] = np.eye(n_outputs)
        self._own = self._columns[:, : ends[0]], self._columns[:, ends[1] : ends[2]]
        gains = np.arange(n_gains) + self._gain_rows * ends[-1]
        self._flat, self._gain_places = self._columns.reshape(-1), (ends[0] + gains, ends[2] + gains)

    def event(self, first: Block, before: Load | None, errors: ErrorModel) -> Event:
        """Return the event that begins with a block."""
        offsets = first.state.copy()
        offsets[: self._n_outputs] = 0.0
        precision = np.asarray(np.linalg.inv(errors.spread(LATEST)), dtype=np.float64)
        usual = errors.spread(1)
        event = Event(first.stamp, before, offsets, errors.deviation, precision, priors(first, usual), usual, [])
        event.attempts.append(self._attempt(event, first.state))
        return event

    def _attempt(self, event: Event, state: Array) -> Attempt:
        """Return evidence that begins now, and allows for errors of the sensor's gain, which show in strong signals."""
        *both, pull = event.priors
        deviations = [*(np.concatenate([own, self._gain_errors(event.noise)]) for own in both), pull]
        bare = FilteredEvidence(self._n_outputs, deviations, state)
        loaded = bare if event.before is None else FilteredEvidence(self._n_outputs, deviations, state)
        return Attempt(bare, loaded, LoadEstimate(both[0], event.usual), UnknownMotion(event.usual))

    def _gain_errors(self, noise: Array) -> Array:
        return np.asarray(GAIN_ERROR * noise[self._gain_rows] / noise[self._gain_sources])

    def gain_variance(self, signal: Array, noise: Array) -> Array:
        """Return the variance (n_outputs,) that gain errors add to a signal; noise: its deviations (n_outputs,)."""
        added = (self._gain_errors(noise) * signal[self._gain_sources]) ** 2
        return np.asarray(np.bincount(self._gain_rows, added, self._n_outputs), dtype=np.float64)

    def examine(self, event: Event, block: Block) -> None:
        """Add a block to all evidence of an event, and begin new evidence every FEWEST blocks."""
        event.n_blocks += 1
        if event.n_blocks % FEWEST == 0:
            event.attempts[1:] = [*event.attempts[1:], self._attempt(event, event.state)][-RUNNING:]
        error = block.without(event.before)
        for attempt in event.attempts:
            step = self.step(attempt.bare, block)
            self.add(attempt.bare, block, step, block.error)
            attempt.estimate.add(block.load_columns, block.error)
            attempt.log_roots += float(np.log(step.root.diagonal()).sum())
            if event.before is not None:
                self.add(attempt.loaded, block, step, error)
            attempt.unknown.add(error - event.state[self._n_outputs :, 0], block.novelty, block.passed)

    def step(self, evidence: FilteredEvidence, block: Block) -> Step:
        """Return the block's step with the noise of what a load adds: its motion is known no better than the body's."""
        added = block.load_columns @ evidence.estimates[Cause.LOAD] if evidence.estimates else block.error
        evidence.level = evidence.level + 1.0 / min(evidence.n_blocks + 1, LONG) * (added**2 - evidence.level)
        return block.step.with_noise(MOTION_ERROR**2 * evidence.level)

    def add(self, evidence: FilteredEvidence, block: Block, step: Step, error: Array) -> None:
        """Add a block with its error (m,); what the sensor's gain does to each cause follows from its estimate."""
        evidence.state, white = step(evidence.state, error[:, None])
        if evidence.n_blocks % LATEST == 1:
            load, push = evidence.of(Cause.LOAD).mean, evidence.of(Cause.PUSH).mean
            evidence.estimates = load[:N_BODY], push[:N_WRENCH]
        parts, estimates = (block.load_columns, block.push_columns), evidence.estimates or (None, None)
        for own, part, places, estimate in zip(self._own, parts, self._gain_places, estimates, strict=True):
            own[:] = part
            self._flat[places] = 0.0 if estimate is None else (part @ estimate)[self._gain_sources]
        add_to_all([evidence], step, self._columns, white[:, 0])
