"""Tells from the errors of a learned body whether something is carried, touched, or has changed."""

from collections import Counter, deque
from math import isfinite

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.carried import CarriedLoad
from icub_learning.dynamics.changes.error_model import ErrorModel
from icub_learning.dynamics.changes.event import BLOCK, Attempt, Block, Event, EvidenceOfCauses
from icub_learning.dynamics.changes.load import DEVIATIONS, Load
from icub_learning.dynamics.changes.suspicion import Suspicion
from icub_learning.dynamics.changes.verdicts import FEWEST, is_load, is_over, is_released
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.regressors.link_effects import LinkEffects

GAP = 0.5  # [s] without samples after which evidence starts anew
LEAST_PUSH = np.array([0.1] * 3 + [0.01] * 3)  # of force [N] and moment [N m]: what less does is taken for noise
FLOOR_SHARE = 0.01  # of each block in their mean effect
AGAIN, ATTEMPTS = 12, 3  # [blocks] after which evidence of an event begins again, and how often it goes on beside
REMEMBERED = 200  # blocks
HELD_BACK = 100  # [blocks] until an error counts as one in which nothing had changed
SETTLED = 3.0  # [s] after which a load is no longer in doubt
QUIET = 1.0  # [s] without any doubt, after which what comes is a new event; between two jolts there are shorter pauses
MOST_LOADS = 3  # one after the other, without a quiet moment: a hand is not filled as often
ENDED = 4  # [blocks] by which the end of a contact is seen
MEMORY = 60.0  # [s] of intervals that must not be learned


class ChangeMonitor:
    """Watches the errors of a learned body, and finds loads at a link, contacts, and changes that are neither.

    While nothing has changed, ErrorModel learns what errors are usual. What exceeds them is at first a contact. It
    becomes a load if a rigid body at the link explains it better than a steady force does and well enough; such a
    body shows in the direction of gravity, in how it follows accelerations, and in that it stays. A contact that lasts
    longer than `longest_contact` without an explanation is a change of the body itself, or a motion of which nothing
    was learned yet; so is a succession of contacts and loads without a quiet moment, and a fourth load in it at once.

    Args:
        effects: what loads and pushes do to the outputs.
        false_alarms: expected number of false alarms in an hour, at most, as far as errors are as ErrorModel has them.
        longest_contact: [s].

    Attributes:
        load: the load that is carried, or None.
        contact: whether something pushes.
        changed: how often the body itself has changed.
        change_ratio: mean squared error after the last of these changes over that before it.
        counts: how often what was found.
    """

    def __init__(self, effects: LinkEffects, false_alarms: float = 0.1, longest_contact: float = 10.0) -> None:
        self.effects = effects
        self._longest = longest_contact
        self.counts: Counter[str] = Counter()
        self.load: Load | None = None
        self.contact = False
        self.changed, self.change_ratio = 0, 1.0
        self._unlearnable: deque[tuple[int, int]] = deque()
        self._errors = ErrorModel(effects.n_outputs, BLOCK)
        self._sum = np.zeros((2, effects.n_outputs))  # of errors and their variances, in the present block
        self._count, self._began, self._last = 0, 0, 0
        self._causes = EvidenceOfCauses(effects.n_outputs, effects.mixes_outputs)
        self._suspicion = Suspicion(self._causes, false_alarms)
        self._restart()

    def _restart(self) -> None:
        self._state = self._errors.start()[:, None]
        self._history: deque[Block] = deque(maxlen=REMEMBERED)
        self._held_back: deque[tuple[Array, Array]] = deque()  # errors and their variances
        self._usual = np.zeros(self.effects.n_outputs)  # variances that the body told while nothing had changed
        self._quiet = 0  # [ns] end of the last QUIET in which nothing was in doubt
        self._doubt = 0  # [ns] when something was in doubt last
        self._loads = 0  # that were accepted since `_quiet`
        self._suspicion.clear()
        self._blocks = 0
        self._event: Event | None = None
        self._empty_offset = np.zeros(self.effects.n_outputs)  # offsets (m,) of errors before the load was there
        self._carried: CarriedLoad | None = None  # None also while an event puts the load in doubt

    @property
    def ready(self) -> bool:
        """Whether it knows what errors are usual."""
        return self._errors.ready

    @property
    def phase(self) -> str:
        """What it sees, in a word or two."""
        if not self.ready:
            return "getting used to the errors"
        if self.contact:
            return "contact"
        return "nothing" if self.load is None else "load"

    @property
    def scale(self) -> float:
        """Return by how much the variance of errors exceeds what their covariances say, because of their tails."""
        return self._errors.scale

    @property
    def steady_deviation(self) -> Array:
        """Standard deviations (m,) of lasting errors while nothing has changed."""
        deviation: Array = np.sqrt(np.diag(self._errors.spread(1)))
        return deviation

    def compensated(self, prediction: Prediction, motion: Motion) -> tuple[Prediction, Array | None]:
        """Return the body's prediction with what the load adds to its rigid-body part, and that part (n_outputs,)."""
        load = self.load
        if load is None:
            return prediction, None
        rows = self.effects.load(motion.position, motion.velocity, motion.acceleration)
        added = rows @ load.parameters
        return prediction.plus(added, np.einsum("ij,jk,ik->i", rows, load.covariance, rows)), added

    def may_learn(self, stamp: int) -> bool:
        """Whether the body may learn from a sample of this time [ns]."""
        if self._event is not None and stamp >= self._event.since:
            return False
        if self.load is not None and stamp >= self.load.since:
            return False
        return not any(begin <= stamp <= end for begin, end in self._unlearnable)

    def observe(self, stamp: int, motion: Motion, error: Array, variance: Array | None = None) -> None:
        """Watch the errors of one sample.

        Args:
            stamp: [ns], rising; a time that is set back starts evidence anew.
            motion: motion of the same instant.
            error: (n_outputs,) measured minus predicted by the body, without the load.
            variance: (n_outputs,) of the error, as the body tells it. Where it is larger than usual the motion is new,
                or the body is still being learned, and errors say less. None or infinite: not known.
        """
        elapsed = (stamp - self._last) * 1e-9
        if not 0.0 < elapsed <= GAP and self._last:
            self._forget_evidence()
        self._last = stamp
        if not self._count:
            self._began = stamp
        self._sum[0] += error
        self._sum[1] += 0.0 if variance is None else variance
        self._count += 1
        # A block is complete when the next sample would lie beyond it.
        if (stamp - self._began) * 1e-9 + min(max(elapsed, 0.0), BLOCK) < BLOCK - 1e-6 and elapsed < BLOCK:
            return
        (mean, told), self._sum, self._count = self._sum / self._count, np.zeros_like(self._sum), 0
        columns = np.concatenate(self.effects(motion.position, motion.velocity, motion.acceleration), axis=1)
        self._take(stamp, mean, columns, told)

    def _forget_evidence(self) -> None:
        """After a pause: what was found stays, what was suspected is dropped."""
        self._sum, self._count = np.zeros_like(self._sum), 0
        self._end_event(self._last)
        self._state = self._errors.start()[:, None]
        self._clear_evidence()

    def _clear_evidence(self) -> None:
        self._history.clear()
        self._held_back.clear()
        self._suspicion.clear()

    def _novelty(self, variance: Array) -> Array | None:
        """Return by how much the variance (m,) of the body's prediction exceeds the usual one, at least 0.

        None where it does so for no output, or where it is not known.
        """
        more = variance - self._usual
        if not isfinite(more.sum()) or not (self._usual > 0.0).all() or not (more > 0.0).any():
            return None
        return np.maximum(more, 0.0)

    def _learn(self, error: Array, variance: Array) -> None:
        """Learn from a block in which nothing had changed what errors and variances are usual."""
        self._errors.learn(error)
        if isfinite(variance.sum()):
            self._usual += (variance - self._usual) / self._errors.weight

    def _take(self, stamp: int, error: Array, columns: Array, variance: Array) -> None:
        if not self._errors.ready:
            pushed = columns[:, len(DEVIATIONS) :] * LEAST_PUSH
            self._errors.floor += (np.diag((pushed**2).sum(axis=1)) - self._errors.floor) * FLOOR_SHARE
            self._learn(error, variance)
            self._quiet = stamp
            if self._errors.ready:
                self._state = self._errors.start()[:, None]
            return
        self._blocks += 1
        # What grips or lets go jolts the arm: that is new too for a moment, but must not pass for an offset.
        step = self._errors.step(self._novelty(variance), wandering=self._event is None and self.load is None)
        block = Block(self._blocks, stamp, error, columns, step, self._state)
        self._history.append(block)
        if self._carried is not None:
            self._carried.follow(block, self.steady_deviation)
            self.load = self._carried.load
            if not self._carried.explains:
                self._accept_change(block.stamp, self._carried.left)
                return
        if self._event is None:
            self._watch(block, variance)
        else:
            self._examine(block)
        if self._event is not None or (self.load is not None and (stamp - self.load.since) * 1e-9 < SETTLED):
            self._doubt = stamp
        elif (stamp - self._doubt) * 1e-9 > QUIET:
            self._quiet, self._loads = stamp, 0

    # --- while nothing changes

    def _watch(self, block: Block, variance: Array) -> None:
        remaining, step = block.error, block.step
        if self.load is not None and self._carried is not None:
            remaining = block.error - block.load_columns @ self.load.parameters
            step = step.with_noise(self._carried.noise)
        self._state, innovation = step(block.state, remaining[:, None])
        white = innovation[:, 0]
        self._suspicion.add(block, step, white)
        began = self._suspicion.began(block.number, self.load)
        if began is not None:
            self._begin_event(began)
            return
        if self.load is None:
            self._errors.follow_tail(float(white @ white))
            self._held_back.append((block.error, variance))
            if len(self._held_back) > HELD_BACK:
                self._learn(*self._held_back.popleft())

    # --- while something is going on

    def _begin_event(self, number: int) -> None:
        blocks = [block for block in self._history if block.number >= number]
        first = blocks[0]
        precision = np.asarray(np.linalg.inv(self._errors.spread(ENDED)), dtype=np.float64)
        attempts = [self._attempt(first.state, self.load)]
        self._event = Event(first.stamp, self.load, first.state[:, 0], precision, attempts)
        self._carried = None
        self._held_back.clear()
        self.contact = True
        for block in blocks:
            self._examine(block)
            if self._event is None:
                return

    def _attempt(self, state: Array, before: Load | None) -> Attempt:
        return self._causes.attempt(np.sqrt(np.diag(self._errors.noise)), state, before)

    def _offsets(self, event: Event) -> Array:
        """State (2 m, 1) of the filter after the event: offsets last, errors of motion do not."""
        state: Array = event.offset[:, None].copy()
        state[: self.effects.n_outputs] = 0.0
        return state

    def _examine(self, block: Block) -> None:
        """Look for the cause of an event with one more block."""
        event = self._event
        assert event is not None
        event.n_blocks += 1
        if event.n_blocks % AGAIN == 0:
            again = self._attempt(self._offsets(event), event.before)
            event.attempts[1:] = [*event.attempts[1:], again][-ATTEMPTS:]
        for attempt in event.attempts:
            self._causes.follow(attempt, block, event.before)
        if self._has_ended(event, block):
            return
        if event.n_blocks % 2 == 0:
            for attempt in event.attempts:
                if attempt.bare.n_blocks >= FEWEST and is_load(attempt):
                    if self._loads == MOST_LOADS:
                        self._accept_change(block.stamp, self._ratio(event))
                    else:
                        self._accept_load(event, attempt)
                    return
        if (block.stamp - self._quiet) * 1e-9 > self._longest:
            self._accept_change(block.stamp, self._ratio(event))

    def _has_ended(self, event: Event, block: Block) -> bool:
        """End the event if the errors are as before it, or as without any load."""
        if event.n_blocks < ENDED or len(self._history) < ENDED:
            return False
        if event.before is not None and is_released(event.attempts[0]):
            self._settle(event, block, None)
            return True
        over, still_there = is_over(event, [self._history[i] for i in range(-ENDED, 0)])
        if over:
            self._settle(event, block, event.before if still_there else None)
        return over

    def _settle(self, event: Event, block: Block, carried: Load | None) -> None:
        """End an event after which there is no other load than before it, or none."""
        self.counts["releases" if event.before is not None and carried is None else "contacts"] += 1
        self.load = carried
        self._end_event(block.stamp)
        self._state = self._offsets(event)
        if event.before is not None and carried is None:
            # While something is carried offsets and its parameters are hard to tell apart.
            self._state[self.effects.n_outputs :, 0] = self._empty_offset

    def _accept_load(self, event: Event, attempt: Attempt) -> None:
        self._carried = CarriedLoad(self._causes, event.since, attempt.bare, attempt.bare_state)
        self.load = self._carried.load
        mean = self.load.parameters
        self.counts["loads"] += 1
        self._loads += 1
        if event.before is None:
            self._empty_offset = event.offset[self.effects.n_outputs :].copy()
        state = self._offsets(event)
        for one in self._history:
            if one.number > self._blocks - attempt.bare.n_blocks:
                state, _ = one.step(state, (one.error - one.load_columns @ mean)[:, None])
        self._state = state
        self._event = None
        self.contact = False
        self._suspicion.clear()

    def _ratio(self, event: Event) -> float:
        """Return the mean squared error since the beginning of an event, over the usual one."""
        bare = event.attempts[0].bare
        return bare.squares / (self.effects.n_outputs * bare.n_blocks)

    def _accept_change(self, stamp: int, ratio: float) -> None:
        """What lasts and is neither load nor contact is how the body is now."""
        self.changed += 1
        self.change_ratio = ratio
        self.counts["changes of the body"] += 1
        self.load = None
        self._end_event(stamp)
        self._errors = ErrorModel(self.effects.n_outputs, BLOCK)
        self._restart()

    def _end_event(self, stamp: int) -> None:
        if self._event is not None:
            before = self._event.before
            self._unlearnable.append((self._event.since if before is None else before.since, stamp))
        while self._unlearnable and stamp - self._unlearnable[0][1] > MEMORY * 1e9:
            self._unlearnable.popleft()
        self._event = None
        self.contact = False
        if self.load is None:
            self._carried = None
        self._suspicion.clear()
