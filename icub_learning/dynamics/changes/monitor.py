"""Tells from the errors of a learned body whether something is carried, touched, or has changed."""

from collections import Counter, deque
from math import log

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.error_model import ErrorModel
from icub_learning.dynamics.changes.event import (
    BLOCK,
    LOAD,
    MOTION_ERROR,
    PUSH,
    Attempt,
    Block,
    Event,
    EvidenceOfCauses,
    load_of,
)
from icub_learning.dynamics.changes.evidence import Evidence
from icub_learning.dynamics.changes.load import DEVIATIONS, Load
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.regressors.link_effects import N_WRENCH, LinkEffects

GAP = 0.5  # [s] without samples after which evidence starts anew
LEAST_PUSH = np.array([0.1] * 3 + [0.01] * 3)  # of force [N] and moment [N m]: what less does is taken for noise
FLOOR_SHARE = 0.01  # of each block in their mean effect
SHORT, SHORT_EVERY = 6, 2  # [blocks] length of the evidence that finds strong changes at once, and how often it begins
LONG, LONG_EVERY = 150, 25  # [blocks] the same for weak changes
AGAIN, ATTEMPTS = 12, 3  # [blocks] after which evidence of an event begins again, and how often it goes on beside
LOOK_EVERY = 5  # [blocks] between two looks at long evidence
REMEMBERED = 200  # blocks
HELD_BACK = 100  # [blocks] until an error counts as one in which nothing had changed
FEWEST = 12  # [blocks] before something counts as a load
MARGIN = 4.0  # of log likelihood, by which a load must be more likely than a contact
SETTLED = 3.0  # [s] after which a load is no longer in doubt
QUIET = 1.0  # [s] without any doubt, after which what comes is a new event; between two jolts there are shorter pauses
MOST_LOADS = 3  # one after the other, without a quiet moment: a hand is not filled as often
FIT_SPAN = 100  # [blocks] over which it is checked that a load explains the errors
LEFT_SHARE = 0.25  # largest mean squared error that a load may leave, of that without it
LEFT = 4.0  # the same, of the usual one; the larger of the two holds
ENDED = 4  # [blocks] by which the end of a contact is seen
LARGEST_FIT = 3.0  # mean squared whitened error of an explanation that fits
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
        threshold: log likelihood ratio of an alarm.
    """

    def __init__(self, effects: LinkEffects, false_alarms: float = 0.1, longest_contact: float = 10.0) -> None:
        self.effects = effects
        self._longest = longest_contact
        # Each block may raise an alarm by each evidence and cause that has begun with it.
        self.threshold = log(3600.0 / BLOCK / SHORT_EVERY * 4 / false_alarms)
        self.counts: Counter[str] = Counter()
        self.load: Load | None = None
        self.contact = False
        self.changed, self.change_ratio = 0, 1.0
        self._unlearnable: deque[tuple[int, int]] = deque()
        self._errors = ErrorModel(effects.n_outputs, BLOCK)
        self._sum = np.zeros((2, effects.n_outputs))  # of errors and their variances, in the present block
        self._count, self._began, self._last = 0, 0, 0
        self._causes = EvidenceOfCauses(effects.n_outputs, effects.mixes_outputs)
        self._restart()

    def _restart(self) -> None:
        self._state = self._errors.start()[:, None]
        self._history: deque[Block] = deque(maxlen=REMEMBERED)
        self._held_back: deque[tuple[Array, Array]] = deque()  # errors and their variances
        self._usual = np.zeros(self.effects.n_outputs)  # variances that the body told while nothing had changed
        self._quiet = 0  # [ns] end of the last QUIET in which nothing was in doubt
        self._doubt = 0  # [ns] when something was in doubt last
        self._loads = 0  # that were accepted since `_quiet`
        self._short: deque[tuple[int, Evidence]] = deque()
        self._long: deque[tuple[int, Evidence]] = deque()
        self._blocks = 0
        self._event: Event | None = None
        self._carried: tuple[Evidence, Array] | None = None  # of the load, and the state of its filter
        self._fit = np.zeros(3)  # blocks since the load was accepted, mean squared errors without it and with it
        self._ended = 0

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
        body = prediction
        made = Prediction(
            body.total + added,
            body.parametric + added,
            body.residual,
            lambda: body.variance + np.einsum("ij,jk,ik->i", rows, load.covariance, rows),
        )
        return made, added

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
            variance: (n_outputs,) of the error, as the body's prediction told it. Where it is larger than usual the
                motion is new, or the body is still being learned, and errors say less. None or infinite: not known.
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
        self._short.clear()
        self._long.clear()

    def _novelty(self, variance: Array) -> float:
        """Return by how much more than usual the body's prediction is uncertain, in variance, at least 1."""
        if not (np.isfinite(variance).all() and (self._usual > 0.0).all()):
            return 1.0
        return max(1.0, float(np.mean(variance / self._usual)))

    def _learn(self, error: Array, variance: Array) -> None:
        """Learn from a block in which nothing had changed what errors and variances are usual."""
        self._errors.learn(error)
        if np.isfinite(variance).all():
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
        block = Block(self._blocks, stamp, error, columns, self._errors.step(self._novelty(variance)), self._state)
        self._history.append(block)
        if self._carried is not None:
            self._follow_load(block)
            if not self.ready:  # it was none: the body has changed
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
            step = step.with_noise(MOTION_ERROR**2 * self._carried[0].level)
        self._state, white = step(block.state, remaining[:, None])
        white = white[:, 0]
        number = block.number
        if number % SHORT_EVERY == 0:
            self._short.append((number, self._causes.plain()))
        if number % LONG_EVERY == 0:
            self._long.append((number, self._causes.plain()))
        for running, longest in ((self._short, SHORT), (self._long, LONG)):
            while running and running[0][1].n_blocks >= longest:
                running.popleft()
            for _, evidence in running:
                evidence.add(step, block.columns, white)
        best, where = self._strongest(number)
        if best > self.threshold:
            self._begin_event(where)
            return
        if self.load is None:
            self._errors.follow_tail(float(white @ white))
            self._held_back.append((block.error, variance))
            if len(self._held_back) > HELD_BACK:
                self._learn(*self._held_back.popleft())

    def _strongest(self, number: int) -> tuple[float, int]:
        """The largest log likelihood ratio of all evidence, and the number of the block where that began."""
        best, where = -np.inf, 0
        looked = list(self._short)
        looked += [entry for i, entry in enumerate(self._long) if (number + i) % LOOK_EVERY == 0]
        for begin, evidence in looked:
            if 0.5 * evidence.squares <= self.threshold:
                continue  # no cause can explain more than all there is
            found = max(evidence.log_ratio(LOAD), evidence.log_ratio(PUSH))
            if self.load is not None:
                found = max(found, evidence.log_ratio_of(-self.load.parameters))
            if found > best:
                best, where = found, begin
        return best, where

    # --- while something is going on

    def _begin_event(self, number: int) -> None:
        blocks = [block for block in self._history if block.number >= number]
        first = blocks[0]
        self._event = Event(first.stamp, self.load, first.state[:, 0], [self._attempt(first.state)])
        self._carried = None
        self._held_back.clear()
        self.contact = True
        self._ended = 0
        for block in blocks:
            self._examine(block)
            if self._event is None:
                return

    def _attempt(self, state: Array) -> Attempt:
        noise = np.sqrt(np.diag(self._errors.noise))
        return Attempt(self._causes.with_gains(noise), self._causes.with_gains(noise), state, state)

    def _offsets(self, event: Event) -> Array:
        """State (2 m, 1) of the filter after the event: offsets last, errors of motion do not."""
        state: Array = event.offset[:, None].copy()
        state[: self.effects.n_outputs] = 0.0
        return state

    def _examine(self, block: Block) -> None:
        """Look for the cause of an event with one more block."""
        event = self._event
        assert event is not None
        bare = block.error
        before = np.zeros(len(DEVIATIONS)) if event.before is None else event.before.parameters
        loaded = block.error - block.load_columns @ before
        event.n_blocks += 1
        if event.n_blocks % AGAIN == 0:
            event.attempts[1:] = [*event.attempts[1:], self._attempt(self._offsets(event))][-ATTEMPTS:]
        for attempt in event.attempts:
            step = self._causes.step(attempt.bare, block)
            attempt.bare_state, white = step(attempt.bare_state, bare[:, None])
            self._causes.add(attempt.bare, block, step, white[:, 0])
            attempt.loaded_state, white = step(attempt.loaded_state, loaded[:, None])
            self._causes.add(attempt.loaded, block, step, white[:, 0])
        if self._has_ended(block, before):
            return
        if event.n_blocks % 2 == 0:
            for attempt in event.attempts:
                if attempt.bare.n_blocks >= FEWEST and self._is_load(attempt):
                    if self._loads == MOST_LOADS:
                        self._accept_change(block.stamp, self._ratio(event))
                    else:
                        self._accept_load(event, attempt)
                    return
        if (block.stamp - self._quiet) * 1e-9 > self._longest:
            self._accept_change(block.stamp, self._ratio(event))

    def _has_ended(self, block: Block, before: Array) -> bool:
        """End the event if the errors are as before it, or as without any load."""
        event = self._event
        assert event is not None
        if event.n_blocks < ENDED or len(self._history) < ENDED:
            return False
        if event.before is not None and self._is_released(event.attempts[0]):
            self._settle(event, block, None)
            return True
        recent = list(self._history)[-ENDED:]
        m = self.effects.n_outputs
        usual = event.offset[:m] * 0.0 + event.offset[m:]  # offsets last, errors of motion do not
        spread = np.linalg.inv(self._errors.spread(ENDED))
        push = event.attempts[0].loaded.posterior(PUSH)[0][:N_WRENCH]
        load = event.attempts[0].bare.posterior(LOAD)[0][: len(DEVIATIONS)]
        sums = {"before": 0.0, "nothing": 0.0, "push": 0.0, "load": 0.0}
        means = {name: np.zeros(m) for name in sums}
        for one in recent:
            bare = one.error - usual
            loaded = bare - one.load_columns @ before
            means["before"] += loaded / ENDED
            means["nothing"] += bare / ENDED
            means["push"] += (loaded - one.columns[:, len(DEVIATIONS) :] @ push) / ENDED
            means["load"] += (bare - one.load_columns @ load) / ENDED
        for name, mean in means.items():
            sums[name] = float(mean @ spread @ mean)
        lasting = min(sums["push"], sums["load"])
        ended, carried = ("before", event.before) if sums["before"] <= sums["nothing"] else ("nothing", None)
        if sums[ended] > LARGEST_FIT * m or sums[ended] > lasting - MARGIN:
            return False
        self._settle(event, block, carried)
        return True

    def _is_released(self, attempt: Attempt) -> bool:
        """Whether the load before is gone, rather than another one there or something pushing."""
        others = attempt.bare.log_ratio(LOAD), attempt.bare.log_ratio(PUSH)
        pushed = attempt.loaded.log_ratio(PUSH) - 0.5 * (attempt.loaded.squares - attempt.bare.squares)
        fits = attempt.bare.squares <= LARGEST_FIT * self.effects.n_outputs * attempt.bare.n_blocks
        return fits and max(*others, pushed) < -MARGIN / 2

    def _settle(self, event: Event, block: Block, carried: Load | None) -> None:
        """End an event after which there is no other load than before it, or none."""
        self.counts["releases" if event.before is not None and carried is None else "contacts"] += 1
        self.load = carried
        self._end_event(block.stamp)
        self._state = self._offsets(event)

    def _is_load(self, attempt: Attempt) -> bool:
        bare, loaded = attempt.bare, attempt.loaded
        as_load = bare.log_ratio(LOAD) - 0.5 * bare.squares
        as_push = max(loaded.log_ratio(PUSH) - 0.5 * loaded.squares, bare.log_ratio(PUSH) - 0.5 * bare.squares)
        if as_load < as_push + MARGIN:
            return False
        load = load_of(0, bare)
        fits = bare.left(LOAD) <= LARGEST_FIT * self.effects.n_outputs * bare.n_blocks
        return load.plausible and load.mass > 2.0 * load.mass_deviation and fits

    def _accept_load(self, event: Event, attempt: Attempt) -> None:
        self.load = load_of(event.since, attempt.bare)
        mean = self.load.parameters
        self.counts["loads"] += 1
        self._loads += 1
        self._carried, self._fit = (attempt.bare, attempt.bare_state), np.zeros(3)
        state = self._offsets(event)
        for one in self._history:
            if one.number > self._blocks - attempt.bare.n_blocks:
                state, _ = one.step(state, (one.error - one.load_columns @ mean)[:, None])
        self._state = state
        self._event = None
        self.contact = False
        self._clear_suspicion()

    def _clear_suspicion(self) -> None:
        self._short.clear()
        self._long.clear()

    def _follow_load(self, block: Block) -> None:
        """Learn more of the load that is carried."""
        assert self._carried is not None and self.load is not None
        evidence, state = self._carried
        step = self._causes.step(evidence, block)
        state, white = step(state, block.error[:, None])
        self._causes.add(evidence, block, step, white[:, 0])
        self._carried = evidence, state
        if evidence.n_blocks % LOOK_EVERY == 0:
            self.load = load_of(self.load.since, evidence)
        left = block.error - block.load_columns @ self.load.parameters
        squares = (np.stack([block.error, left]) / self.steady_deviation) ** 2
        self._fit[0] += 1
        self._fit[1:] += (squares.mean(axis=1) - self._fit[1:]) / min(self._fit[0], FIT_SPAN)
        if self._fit[0] >= FIT_SPAN and self._fit[2] > max(LEFT_SHARE * self._fit[1], LEFT):
            self._accept_change(block.stamp, self._fit[2])  # no load leaves as much

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
        self._clear_suspicion()
