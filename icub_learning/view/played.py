"""The state of a robot at any time of a recording, with the predictions for it."""

from collections.abc import Mapping

import numpy as np

from icub_learning.arrays import Array
from icub_learning.errors import RecordingError
from icub_learning.evaluation.predict_then_learn import Evaluation
from icub_learning.recording import Recording
from icub_learning.recording.recording import AXES
from icub_learning.view.shown.state import PERIOD, SPAN, Learner, State


class RecordedSource:
    """A recording in memory with a robot (`urdf`: path or XML text; "": it is not drawn), evaluations of P, NP and SP
    by short name, and the frame of its wrenches, "" if unknown. Raises RecordingError: there are no joint states."""

    def __init__(
        self, recording: Recording, urdf: str, evaluations: Mapping[str, Evaluation] | None = None, frame: str = ""
    ) -> None:
        if not len(recording.joint_stamps):
            text = "the recording holds no joint states"
            raise RecordingError(text, name="joint_states", value=0, bound="at least one")
        self._order = np.argsort(recording.joint_stamps, kind="stable")
        self._stamps, self._recording = recording.joint_stamps[self._order], recording
        self._start = int(self._stamps[0])
        self.duration = float(self._stamps[-1] - self._start) * 1e-9  # length of the recording [s]
        self._state = State()
        self._state.set_urdf(urdf)
        self._tracks = {
            short: _Track(one.stamps, one.measured, one.predicted, one.parametric, one.variance)
            for short, one in (evaluations or {}).items()
        }
        outputs = {short: one.output_names for short, one in (evaluations or {}).items()}
        if not self._tracks:
            self._tracks, outputs = _measured_alone(recording)
        self._state.learners = {
            f"/{short}": Learner(f"/{short}", outputs[short], frame or recording.wrench_frame) for short in self._tracks
        }

    def at(self, seconds: float) -> State:
        """Return the state at a time after the start of the recording [s]."""
        stamp = self._start + round(seconds * 1e9)
        row = self._order[max(0, int(np.searchsorted(self._stamps, stamp, "right")) - 1)]
        names, position = self._recording.joint_names, self._recording.position[row]
        self._state.joints = dict(zip(names, position.tolist(), strict=True))
        for short, track in self._tracks.items():
            track.fill(self._state.learners[f"/{short}"], stamp, self._start)
        return self._state


class _Track:
    """Points of all outputs, PERIOD apart: stamps (n,) [ns] and values (n, 4, n_outputs)."""

    def __init__(
        self, stamps: np.ndarray, measured: Array, predicted: Array, parametric: Array, variance: Array
    ) -> None:
        order = np.argsort(stamps, kind="stable")
        kept = order[np.unique(stamps[order] // round(PERIOD * 1e9), return_index=True)[1]]
        deviation = np.sqrt(np.maximum(variance[kept], 0.0))
        self._stamps = stamps[kept]  # stamps of the first sample of each period [ns]
        self._values = np.stack([measured[kept], predicted[kept], parametric[kept], deviation], axis=1)

    def fill(self, learner: Learner, stamp: int, start: int) -> None:
        """Put the window that ends at `stamp` [ns] into the curves of a learner."""
        first, last = np.searchsorted(self._stamps, [stamp - round(SPAN * 1e9), stamp], "right")
        curves, window = learner.curves, self._values[first:last]
        curves.seconds = (self._stamps[first:last] - start) * 1e-9
        curves.measured, curves.predicted, curves.parametric, curves.deviation = np.moveaxis(window, 1, 0)
        curves.newest_stamp = stamp


def _measured_alone(recording: Recording) -> tuple[dict[str, _Track], dict[str, tuple[str, ...]]]:
    if recording.wrench is not None and len(recording.wrench):
        name, stamps, values = "wrench", recording.wrench_stamps, recording.wrench
        outputs: tuple[str, ...] = AXES
    elif recording.effort is not None:
        name, stamps, values, outputs = "effort", recording.joint_stamps, recording.effort, recording.joint_names
    else:
        return {}, {}
    nothing = np.full_like(values, np.nan)
    return {name: _Track(stamps, values, nothing, nothing, nothing)}, {name: tuple(outputs)}
