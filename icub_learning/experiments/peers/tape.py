"""What passes through the stream of our learner: motions to predict for and samples to learn, in their order."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import SampleError
from icub_learning.evaluation.judgement import mere_quantization
from icub_learning.files import replacing
from icub_learning.recording.recording import Recording, WrenchEvent

SEARCH = 0.3  # share of a recording, from its beginning, on which rivals' settings are chosen
FIRST = 2.0  # time from which errors count [s]


def digest_of(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of arrays, and of other values as Python shows them, with their names."""
    known = {name: (v.shape, v.dtype, v.tobytes()) if isinstance(v, np.ndarray) else v for name, v in values.items()}
    return hashlib.sha256(repr(known).encode()).hexdigest()


@dataclass(frozen=True)
class Tape:
    """All that a learner sees of a recording, and the predictions of ours."""

    times: Array  # (n,) times of the joint states since the first one [s]
    motions: Array  # (n, 3 n_joints), position, velocity and acceleration of each joint state, derived without delay
    measured: Array  # (n, n_outputs); NaN where no measurement came
    order: np.ndarray  # (k,); i >= 0: joint state i is to be predicted; -1 - i: its measurement is to be learned
    ours: Array  # (n, n_outputs), predicted by SP with its defaults
    rigid: Array  # (n, n_outputs), predicted by P, the rigid bodies within it
    judged: np.ndarray  # (n_outputs,) bool, which outputs count
    microseconds: float  # processor time that our estimator took for each joint state, without motion filter and watch

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything on which a rival's outcome depends."""
        names = "times", "motions", "measured", "order", "rigid", "judged"
        return digest_of({name: getattr(self, name) for name in names})

    @property
    def search_end(self) -> int:
        """Number of joint states on which rivals' settings are chosen."""
        return int(np.searchsorted(self.times, SEARCH * self.times[-1]))

    def save(self, path: Path) -> dict[str, Any]:
        """Write the tape to a file, and return {} as the outcome for `trial.kept`."""
        with replacing(path) as file:
            np.savez_compressed(file, **{one.name: getattr(self, one.name) for one in fields(self)})
        return {}

    @classmethod
    def load(cls, path: Path) -> "Tape":
        """Read what `save` wrote."""
        with np.load(path) as found:
            stored: Mapping[str, Any] = {one.name: found[one.name] for one in fields(cls)}
        return cls(**{**stored, "microseconds": float(stored["microseconds"])})


class _Clocked:
    """An estimator, and the processor time [s] that its methods have taken."""

    def __init__(self, estimator: Any) -> None:
        self._estimator, self.seconds = estimator, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._estimator, name)
        return (lambda *given, **more: self.clocked(found, *given, **more)) if callable(found) else found

    def clocked(self, work: Callable[..., Any], *given: Any, **more: Any) -> Any:
        began = thread_time()
        result = work(*given, **more)
        self.seconds += thread_time() - began
        return result


def record(recording: Recording, settings: Settings, mere_noise: tuple[bool, ...] = ()) -> Tape:
    """Return the tape of our untrained learner on a recording; `mere_noise` marks outputs of more noise than signal."""
    regressor = assembly.make_regressor(settings)
    estimator = _Clocked(assembly.make_estimator(settings, regressor))
    stream = assembly.make_stream(settings, regressor, estimator)
    times: list[int] = []
    order: list[int] = []
    motions, measured, ours, rigid = ([] for _ in range(4))
    places: dict[int, int] = {}
    for event in recording.events():
        try:
            if isinstance(event, WrenchEvent):
                stream.measurement(event.stamp, event.values)
            else:
                shown = stream.joint_state(event.stamp, event.names, event.position, event.velocity, event.effort)
                estimator.clocked(shown.body.settle)
        except SampleError:
            continue
        paired, learned = stream.pair(), stream.complete()
        if (ratio := stream.take_change()) is not None:
            estimator.body_changed(ratio)
        for sample in learned:
            sample.teach(estimator)
        if not isinstance(event, WrenchEvent):
            places[event.stamp] = len(times)
            order.append(len(times))
            times.append(event.stamp)
            motions.append(np.concatenate([shown.known.position, shown.known.velocity, shown.known.acceleration]))
            measured.append(np.full(regressor.n_outputs, np.nan))
            ours.append(shown.prediction.total)
            rigid.append(shown.body.parametric)
        for pair in paired:
            measured[places[pair.stamp]] = pair.measured
        order += [-1 - places[sample.motion.stamp] for sample in learned]
    table = np.array(measured)
    whole = table[np.isfinite(table).all(axis=1)]
    judged = ~mere_quantization(whole[int(0.7 * len(whole)) :])
    if mere_noise:
        judged &= ~np.array(mere_noise)
    stamps = np.asarray((np.array(times, dtype=np.int64) - times[0]) * 1e-9, dtype=float)
    return Tape(
        stamps, np.array(motions), table, np.array(order), np.array(ours), np.array(rigid), judged,
        1e6 * estimator.seconds / len(times),
    )  # fmt: skip
