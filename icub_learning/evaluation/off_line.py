"""Off-line identification by least squares on zero-phase filtered signals: what learning is compared with."""

from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError, RecordingError
from icub_learning.evaluation.judgement import geometric_mean
from icub_learning.evaluation.metrics import nmse
from icub_learning.evaluation.motions import FilteredSignals, Signals, interpolate, resample, zero_phase
from icub_learning.evaluation.predict_then_learn import check_outputs
from icub_learning.recording.recording import Recording

BANDWIDTHS = (1.0, 2.0, 3.5, 5.0, 8.0, 12.0, 20.0, 40.0, 80.0)  # candidates [Hz]; chosen on the training part alone
HIGHEST = 0.4  # largest bandwidth, relative to the sampling rate
N_BLOCKS = 5  # blocks of the training part, in order of time, for cross-validation
ROWS_PER_PERIOD = 5  # rows used in one period of the bandwidth: more rows of filtered signals hold nothing new
RIDGES = (1.0, 1e-2, 1e-4)  # candidates [samples of unit length per column] for the regularization, chosen likewise


@dataclass(frozen=True)
class OffLineIdentification:
    """Parameters found off line, and the filter with which they predict."""

    regressor: Regressor  # regressor of the robot
    settings: Settings  # settings with which the regressor was made
    parameters: Array  # (n_parameters,)
    bandwidth_hz: float  # bandwidth of the filter, the same for motions and measurements
    measured_velocity: bool  # whether measured velocities are used
    # cross-validation error of each (bandwidth [Hz], measured velocity): geometric mean over the outputs of the nMSE
    # with which blocks of the training part were predicted from the others
    errors: dict[tuple[float, bool], float]

    def predict(self, recording: Recording, part: tuple[float, float] = (0.0, 1.0)) -> tuple[Array, Array]:
        """Predict the raw measurements of a part of a recording of the robot from its zero-phase filtered motions.

        The part begins and ends at shares of the measurements, but at least one period of the bandwidth from the ends
        of the recording: nearer to these the filter lacks samples. Returns predicted and measured (n, n_outputs).
        Raises RecordingError: something is missing, or the part is empty; ParameterError: it is no interval in [0, 1].
        """
        check_outputs(recording, self.settings)
        signals = resample(recording, self.settings)
        bandwidth, times = min(self.bandwidth_hz, HIGHEST / signals.step), signals.measured_times
        filtered, (begin, end) = zero_phase(signals, bandwidth, self.measured_velocity), _limits(part, times)
        begin, end = max(begin, 1 / bandwidth), min(end, signals.times[-1] - 1 / bandwidth)
        trusted = np.interp(times, signals.times, filtered.trusted) > 0.5
        chosen = np.flatnonzero((times >= begin) & (times <= end) & trusted)
        if not len(chosen):
            text = f"no measurement lies in the part to predict, {1 / bandwidth:.2g} s from the ends of the recording"
            raise RecordingError(text, name="part", value=part)
        motion = (interpolate(times[chosen], signals.times, values) for values in filtered.motion)
        predicted = np.array([self.regressor(*state) @ self.parameters for state in zip(*motion, strict=True)])
        return predicted, signals.measured[chosen]

    def nmse(self, recording: Recording, part: tuple[float, float] = (0.7, 1.0)) -> Array:
        """Return the nMSE of the prediction of a part of a recording, (n_outputs,); see `predict`."""
        predicted, measured = self.predict(recording, part)
        return nmse(predicted - measured, measured)


def identify_off_line(
    recording: Recording,
    settings: Settings,  # settings of on-line learning are not used
    training: tuple[float, float] = (0.0, 0.7),  # begin and end of the training part, as shares of the samples
    bandwidths: tuple[float, ...] = BANDWIDTHS,  # candidates [Hz]; those above 0.4 of the recording's rate are left out
) -> OffLineIdentification:
    """Identify the parameters of a robot by least squares on zero-phase filtered signals of a part of a recording.

    Raises RecordingError: the recording lacks what the settings need, or is too short; ModelError, ParameterError: the
    settings do not fit the robot, or are outside their ranges.
    """
    check_outputs(recording, settings)
    regressor, signals = assembly.make_regressor(settings), resample(recording, settings)
    begin, end = _limits(training, signals.measured_times)
    inside = (signals.times >= begin) & (signals.times <= end)
    possible = [value for value in bandwidths if value <= HIGHEST / signals.step]
    if not possible:
        raise ParameterError("bandwidths", bandwidths, f"one of at most {HIGHEST / signals.step:g} Hz")
    sources = (False,) if signals.velocity is None else (False, True)
    errors, fits = {}, {}
    for bandwidth in possible:
        for measured in sources:
            filtered = zero_phase(signals, bandwidth, measured)
            problem = _Problem(regressor, signals, filtered, inside & filtered.trusted, bandwidth)
            of_ridges = problem.cross_validated_errors()
            errors[bandwidth, measured], place = min(of_ridges), int(np.argmin(of_ridges))
            fits[bandwidth, measured] = problem.solve(slice(None))[place]
    best = min(errors, key=lambda choice: errors[choice])
    return OffLineIdentification(regressor, settings, fits[best], best[0], best[1], errors)


class _Problem:
    """The least-squares problem of one bandwidth on the training part, whole or without one of its blocks."""

    def __init__(
        self, regressor: Regressor, signals: Signals, filtered: FilteredSignals, inside: np.ndarray, bandwidth: float
    ) -> None:
        rows = np.flatnonzero(inside)[:: max(1, int(1 / (ROWS_PER_PERIOD * bandwidth * signals.step)))]
        if len(rows) < 2 * N_BLOCKS:
            text = f"the training part has {len(rows)} rows of its own at {bandwidth:g} Hz"
            raise RecordingError(text, name="training", value=len(rows), bound=f"at least {2 * N_BLOCKS}")
        motion = (values[rows] for values in filtered.motion)
        self._design = np.array([regressor(*state) for state in zip(*motion, strict=True)])
        self._targets, self._raw = filtered.outputs[rows], signals.outputs[rows]
        self._times, self._guard = signals.times[rows], 1 / bandwidth
        self._blocks = np.array_split(np.arange(len(rows)), N_BLOCKS)
        # All outputs count alike whatever their units, and so do all columns of the regressor.
        deviation = self._targets.std(axis=0)
        self._varies = deviation > 1e-9 * max(deviation.max(), 1e-9)
        self._weights = 1 / np.where(self._varies, deviation, np.inf)
        flat = (self._design * self._weights[:, None]).reshape(-1, regressor.n_parameters)
        length = np.sqrt((flat**2).mean(axis=0))
        self._scale = np.where(length > 1e-9 * length.max(), length, np.inf)

    def cross_validated_errors(self) -> list[float]:
        """Return, for each of RIDGES, the geometric mean over outputs of the nMSE of raw measurements, blocks predicted
        from the others; infinite where no output varies."""
        predicted = np.empty((len(RIDGES), *self._raw.shape))
        for block in self._blocks:
            # The filter mixes rows within one period of its bandwidth: rows so near to a block are left out.
            first, last = self._times[block[0]] - self._guard, self._times[block[-1]] + self._guard
            others = np.flatnonzero((self._times < first) | (self._times > last))
            predicted[:, block] = [self._design[block] @ parameters for parameters in self.solve(others)]
        varies = self._varies & (np.ptp(self._raw, axis=0) > 0)
        found = (nmse(one - self._raw, self._raw)[varies] for one in predicted)
        return [geometric_mean(one) if varies.any() else np.inf for one in found]

    def solve(self, rows: np.ndarray | slice) -> Array:
        """Return, for each of RIDGES, the parameters (n_parameters,) that fit some rows of the training part."""
        design = (self._design[rows] * self._weights[:, None] / self._scale).reshape(-1, len(self._scale))
        target = (self._targets[rows] * self._weights).reshape(-1)
        gram, moment, one = design.T @ design, design.T @ target, np.eye(len(self._scale))
        return np.array([np.linalg.solve(gram + ridge * one, moment) for ridge in RIDGES]) / self._scale


def _limits(part: tuple[float, float], times: Array) -> tuple[float, float]:
    """Return the times at which a part begins and ends, given as shares of the measurements at `times` (n,)."""
    begin, end = part
    if not 0.0 <= begin < end <= 1.0:
        raise ParameterError("part", part, "(begin, end) with 0 <= begin < end <= 1")
    return float(np.quantile(times, begin)), float(np.quantile(times, end))
