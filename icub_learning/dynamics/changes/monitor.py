"""Tells from the errors of a learned body whether something is carried, touched, or has changed."""

from collections import Counter, deque
from dataclasses import replace
from enum import Enum

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.changes.blocks import QUIET, Blocks
from icub_learning.dynamics.changes.error_model import BLOCK, SLOW, ErrorModel
from icub_learning.dynamics.changes.event import LATEST, Attempt, Block, Event, EvidenceOfCauses, Suspicion
from icub_learning.dynamics.changes.load import Load
from icub_learning.dynamics.changes.verdicts import is_over, load_in
from icub_learning.dynamics.estimators.noise.fading import LateMotion, UsualSpeed
from icub_learning.dynamics.estimators.prediction import Prediction
from icub_learning.dynamics.motion.motion import Motion
from icub_learning.dynamics.regressors.link_effects import N_BODY, LinkEffects, wrench_units

LEAST_PUSH = 0.1  # [N], and as a moment times UNIT_LENGTH [N m]: what a weaker push does is taken for noise
MOST_LOADS = 3  # largest number of loads in a row without a quiet moment: a hand is not filled more often
MEMORY = 60.0  # [s] age to which intervals that must not be learned are kept; motions are known within a second
SETTLED = 3.0  # [s] age at which a load is no longer in doubt
LATE = 5.0  # [s] half-life of errors by motions known late: docs/decisions/2026-11-30-motions-that-are-known-late.md


class State(Enum):
    """What a monitor believes: a number, and what is seen in a word or two."""

    GETTING_USED = 0, "getting used to the errors"
    QUIET = 1, "nothing"
    DISTURBED = 2, "contact"  # something has begun: a push, or a load that is not known yet
    CARRYING = 3, "load"
    DISTURBED_CARRYING = 4, "contact"  # something has begun while a load was carried; perhaps it was let go


class ChangeMonitor:
    """Watches the errors of a learned body, and finds loads at a link, contacts, and changes that are neither.

    What exceeds the errors that are usual (ErrorModel) is at first a contact, and a load if a rigid body at the link
    explains it better than a steady force, and well enough. What lasts longer than `longest_contact` without a quiet
    moment, whether contacts or loads, is a change of the body itself, or a motion of which nothing was learned yet; so
    is, at once, a fourth load in a row. All states and transitions are in docs/theory/loads_and_contacts.md.

    Args:
        effects: what loads and pushes do to the outputs.
        false_alarms: expected number of false alarms in an hour, at most, as far as ErrorModel describes the errors.
        longest_contact: time [s] after which what lasts is a change of the body.

    Attributes:
        state, load: the State that it believes in; the load that is carried, or None.
        changed: how often the body itself has changed.
        change_ratio: mean squared error after the last of these changes over that before it.
        counts: numbers of loads, releases, contacts and changes of the body that were found."""

    def __init__(self, effects: LinkEffects, false_alarms: float = 0.1, longest_contact: float = 10.0) -> None:
        self.effects, self._longest = effects, longest_contact
        self.counts: Counter[str] = Counter()
        self.changed, self.change_ratio = 0, 1.0
        self.load: Load | None = None
        self._carried: Attempt | None = None  # evidence of the load
        self._withheld: deque[tuple[int, int]] = deque()  # intervals [ns] that must not be learned, both ends included
        self._held_back: deque[tuple[Array, float]] = deque()  # the latest, which are learned unless an event begins
        self._blocks = Blocks(effects.n_outputs)
        self._causes = EvidenceOfCauses(effects.n_outputs, effects.mixes_outputs)
        self._suspicion = Suspicion(effects.n_outputs, false_alarms)
        # State of the filter, and that of before the load: offsets and the load carried are hard to tell apart.
        self._filter, self._empty = np.zeros((2, 2 * effects.n_outputs, 1))
        self._changed: Array = np.zeros(effects.n_outputs)  # largest square of what a prediction changed by lately
        self._start()

    @property
    def ready(self) -> bool:
        """Whether it knows what errors are usual."""
        return self.state is not State.GETTING_USED

    @property
    def contact(self) -> bool:
        """Whether something pushes."""
        return self._event is not None

    @property
    def phase(self) -> str:
        """What is seen, in a word or two."""
        return str(self.state.value[1])

    @property
    def scale(self) -> float:
        """Return by how much the variance of errors exceeds what their covariances say, because of their tails."""
        return self._errors.scale

    def compensated(self, prediction: Prediction, motion: Motion) -> tuple[Prediction, Array | None]:
        """Return the body's prediction with what the load adds to its rigid-body part, and that part (n_outputs,)."""
        if (load := self.load) is None:
            return prediction, None
        rows = self.effects.load(motion.position, motion.velocity, motion.acceleration)
        added = rows @ load.parameters
        return prediction.plus(added, np.einsum("ij,jk,ik->i", rows, load.covariance, rows)), added

    def gain_variance(self, signal: Array) -> Array:
        """Return the variance (n_outputs,) that gain errors add to a signal (n_outputs,); 0 before errors are known."""
        return self._causes.gain_variance(signal, self._errors.deviation) if self.ready else np.zeros(len(signal))

    def may_learn(self, stamp: int) -> bool:
        """Whether the body may learn from a sample of this time [ns]."""
        over = any(begin <= stamp <= end for begin, end in self._withheld)
        return not over and all(one is None or stamp < one.since for one in (self._event, self.load))

    def observe(self, motion: Motion, error: Array, variance: Array | None = None) -> None:
        """Watch the errors of one sample.

        Args:
            motion: the motion, with a stamp that rises; one that is set back starts evidence anew.
            error: (n_outputs,) measured minus predicted by the body, without the load.
            variance: (n_outputs,) variance of the error that the body predicts. Where it is larger than usual the
                motion is new, or the body is still being learned, and errors say less. None or infinite: not known."""
        stamp = motion.stamp
        if self._blocks.paused(stamp):
            self._paused(stamp)
        if (block := self._blocks.means(motion, error, variance, self._is_strange)) is None:
            return
        motion, means = block
        share = self._speed.share(motion.velocity)
        self._speed.update(motion.velocity, share, BLOCK)
        self._late.update(self._changed)
        self._changed = np.zeros(self.effects.n_outputs)
        columns = np.concatenate(self.effects(motion.position, motion.velocity, motion.acceleration), axis=1)
        if self.state is State.GETTING_USED:
            self._errors.ignore(columns[:, N_BODY:] * LEAST_PUSH * wrench_units())
            self._errors.learn(means[0], means[1], means[2], share)
            if self._errors.age >= SLOW:
                self._filter = self._errors.start()[:, None]
                self._enter(State.QUIET)
        else:
            self._judge(stamp, means, columns, share)
        if self.contact or (self.load is not None and (stamp - self.load.since) * 1e-9 < SETTLED):
            self._doubt = stamp
        elif (stamp - self._doubt) * 1e-9 > QUIET:
            self._quiet, self._loads = stamp, 0

    def hindsight(self, change: Array) -> None:
        """Record by how much smoothing a past motion has changed the rigid-body prediction (n_outputs,)."""
        self._changed = np.maximum(self._changed, change**2)

    def _judge(self, stamp: int, means: Array, columns: Array, share: float) -> None:
        error, told, _ = means
        # Gripping and letting go jolt the arm: such a motion is new for a moment, too, but must not pass for an offset.
        novelty = self._errors.novelty(told)
        late, blocks = self._late.variance, self._blocks
        step = self._errors.step(novelty, self.state is State.QUIET, blocks.passed, blocks.fewer, late)
        block = self._blocks.add(stamp, error, columns, step, self._filter, novelty)
        if self._event is not None:
            self._examine(self._event, block)
            return
        if (carried := self._carried) is not None:
            step = self._causes.step(carried.bare, block)
        self._filter, innovation = step(self._filter, block.without(self.load)[:, None])
        white = innovation[:, 0]
        began = self._suspicion.follow(block, step, white, self.load, self._errors)
        if began is not None:
            self._began(began)
        elif self.load is not None and carried is not None:
            self._causes.add(carried.bare, block, step, error)
            carried.estimate.add(block.load_columns, error)
            if carried.bare.n_blocks % LATEST == 0:
                self.load = carried.estimate.load(self.load.since, stamp)
        else:
            self._errors.follow_tail(float(white @ white), share)
            self._held_back.append((means, share))
            if len(self._held_back) * BLOCK > QUIET:
                means, share = self._held_back.popleft()
                self._errors.learn(means[0], means[1], means[2], share)

    def _is_strange(self, error: Array, fewer: float) -> bool:
        """Return whether a mean error (m,) of `fewer` times fewer samples than a block usually has may be an alarm. It
        is judged by the filter's step and the load's columns of the block before."""
        if self.contact or not self._blocks.history:
            return False
        last = self._blocks.history[-1]
        step = last.step.with_noise(self._errors.more_noise(fewer))
        _, white = step(self._filter, (error - last.added(self.load))[:, None])
        return self._suspicion.may_begin(float((white**2).sum()))

    def _examine(self, event: Event, block: Block) -> None:
        self._causes.examine(event, block)
        latest = list(self._blocks.history)[-min(LATEST, max(event.n_blocks - 1, 1)) :]  # those after the first
        over, still_there = is_over(event, latest)
        attempt = None if over else load_in(event, latest)
        if over and still_there:
            self._over("contacts", block.stamp, event.state, State.QUIET if self.load is None else State.CARRYING)
        elif over:
            self._over("releases", block.stamp, self._empty, State.QUIET)
        elif attempt is not None and self._loads < MOST_LOADS:
            self._load_found(event, attempt)
        elif attempt is not None or (block.stamp - self._quiet) * 1e-9 > self._longest:
            self._body_changed(block.stamp, event)

    def interrupt(self) -> None:
        """Drop what is suspected, as after a pause: measurements that would tell a load from a contact do not come."""
        if self.contact:
            self._paused(self._blocks.last)

    # --- transitions, named after what happened

    def _start(self) -> None:
        m = self.effects.n_outputs
        self._errors, self._speed, self._late = ErrorModel(m), UsualSpeed(), LateMotion(m, BLOCK, LATE)
        # Stamps [ns] of the last quiet moment and of the last doubt, and how many loads were found since the former.
        self._quiet = self._doubt = self._loads = 0
        self._blocks.forget()
        self._blocks.number = 0
        self._enter(State.GETTING_USED)

    def _began(self, number: int) -> None:
        blocks = [block for block in self._blocks.history if block.number >= number]
        event = self._causes.event(blocks[0], self.load, self._errors)
        self._enter(State.DISTURBED if self.load is None else State.DISTURBED_CARRYING, event)
        for block in blocks:
            if self._event is event:
                self._examine(event, block)

    def _load_found(self, event: Event, attempt: Attempt) -> None:
        self.counts["loads"] += 1
        self._loads += 1
        self._withhold(event.since)  # the time with the load before this one
        self.load, self._carried = attempt.estimate.load(event.since, self._blocks.history[-1].stamp), attempt
        self._empty = event.state if event.before is None else self._empty
        self._filter = event.state
        for block in list(self._blocks.history)[-attempt.bare.n_blocks :]:
            self._filter, _ = block.step(self._filter, block.without(self.load)[:, None])
        self._enter(State.CARRYING)

    def _over(self, what: str, stamp: int, state: Array, after: State) -> None:
        self.counts[what] += 1
        self._withhold(stamp)
        self._filter = state
        self._enter(after)

    def _body_changed(self, stamp: int, event: Event) -> None:
        """Start anew: what lasts and is neither load nor contact is how the body is now."""
        self.counts["changes of the body"] += 1
        bare = event.attempts[0].bare
        self.changed, self.change_ratio = self.changed + 1, bare.squares / (len(event.noise) * bare.n_blocks)
        self._withhold(stamp)
        self._start()

    def _paused(self, stamp: int) -> None:
        """Keep what was found and drop what was suspected, after a pause or when the clock was set back."""
        self._withhold(self._blocks.last)
        if self._event is not None:
            self._filter = self._event.state
        self._quiet += stamp - self._blocks.last  # nothing has lasted longer by a pause
        if stamp < self._blocks.last:  # the clock was set back: nothing that is to come was in doubt before
            self._filter = self._errors.start()[:, None]
            self._withheld.clear()
            self._quiet, self._doubt, self._loads = stamp, stamp, 0
            if self.load is not None:
                self.load = replace(self.load, since=stamp)
        self._blocks.forget()
        after = {State.DISTURBED: State.QUIET, State.DISTURBED_CARRYING: State.CARRYING}
        self._enter(after.get(self.state, self.state))

    def _enter(self, state: State, event: Event | None = None) -> None:
        self.state, self._event = state, event
        if state not in (State.CARRYING, State.DISTURBED_CARRYING):
            self.load = self._carried = None
        self._suspicion.clear()
        self._held_back.clear()

    def _withhold(self, stamp: int) -> None:
        """Let nothing be learned from the beginning of the event, or of the load before it, until `stamp` [ns]."""
        if self._event is not None:
            self._withheld.append(((self.load or self._event).since, stamp))
        while self._withheld and stamp - self._withheld[0][1] > MEMORY * 1e9:
            self._withheld.popleft()
