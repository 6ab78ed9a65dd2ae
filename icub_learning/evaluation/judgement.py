"""Figures of merit of the predictions for one recording: ratios of errors, smoothness, coverage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from icub_learning.arrays import Array, finite
from icub_learning.errors import RecordingError
from icub_learning.evaluation.metrics import nmse
from icub_learning.evaluation.predict_then_learn import Evaluation

FEW_LEVELS, NEARLY_ALL = 5, 0.98  # an output is not judged if its 5 most frequent values make up this share of samples


@dataclass(frozen=True)
class Judgement:
    """Figures of P, NP, SP, off-line identification and hold for the same outputs of one recording."""

    output_names: tuple[str, ...]
    judged: np.ndarray  # (n_outputs,) bool; False for mere quantization noise, see `mere_quantization`
    # nMSE (n_outputs,) of each method ("off-line", "P", "NP", "SP", "hold"); NaN where a method has none
    nmse: Mapping[str, Array]
    # (n_outputs,), standard deviation of the successive differences of SP's predictions, relative to that of the
    # measurements; above 1 the predictions are rougher than what was measured
    smoothness: Array
    # (n_outputs,), the share of measurements within two predicted standard deviations of SP's predictions; 0.954 for a
    # Gaussian error whose variance is known
    coverage: Array
    beside_off_line: Array  # nMSE of SP, (n_outputs,), over the samples that off-line identification is judged on

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the outputs that are left out of all means."""
        return tuple(name for name, judged in zip(self.output_names, self.judged, strict=True) if not judged)

    @property
    def relative_to_parts(self) -> Array:
        """The nMSE of SP over the smaller of P's and NP's, (n_outputs,); NaN where an output is not judged."""
        return np.where(self.judged, self.nmse["SP"] / np.fmin(self.nmse["P"], self.nmse["NP"]), np.nan)

    def figures(self) -> dict[str, float]:
        """Return one number for each figure of merit: means are geometric means over the judged outputs.

        Keys: the names of the methods (mean nMSE), "SP/off-line", "SP/min(P,NP)", "worst SP/min(P,NP)", "smoothness"
        (of the worst output), "coverage" (of all outputs together), "worst coverage" (of the output whose coverage is
        farthest from 0.954). NaN where nothing is judged.
        """
        means = {method: geometric_mean(errors[self.judged]) for method, errors in self.nmse.items()}
        values = (self.relative_to_parts, self.smoothness, self.coverage)
        ratios, smoothness, coverage = (one[self.judged] if self.judged.any() else np.full(1, np.nan) for one in values)
        means["SP/off-line"] = geometric_mean(self.beside_off_line[self.judged]) / means["off-line"]
        means |= {"SP/min(P,NP)": geometric_mean(ratios), "worst SP/min(P,NP)": float(ratios.max())}
        worst = float(coverage[np.abs(coverage - 0.954).argmax()])
        means |= {"smoothness": float(smoothness.max()), "coverage": float(coverage.mean())}
        return {**means, "worst coverage": worst}


def judge(
    results: Mapping[str, Evaluation], off_line: Array | None, steady_from: float = 0.7, edge: float = 0.0
) -> Judgement:
    """Judge the last part of a recording, from the share `steady_from` of the compared samples on.

    `results` are evaluations of it by "P", "NP" and "SP"; `off_line` (n_outputs,) is the nMSE of off-line
    identification on the same part, if there is one, but for `edge` seconds at both ends of the recording. Raises
    RecordingError: fewer than two samples are in the part.
    """
    last = results["SP"]
    part = slice(int(steady_from * len(last.stamps)), None)
    measured = last.measured[part]
    if len(measured) < 2:
        text = f"{len(measured)} samples are in the part to judge"
        raise RecordingError(text, name="recording", value=len(measured), bound="at least 2")
    errors = {short: nmse(result.errors[part], result.measured[part]) for short, result in results.items()}
    none = np.full(measured.shape[1], np.nan)
    within = np.abs(last.errors[part]) <= 2.0 * np.sqrt(last.variance[part])
    held = np.isfinite(last.held[part]).all(axis=1)  # nothing is held before the first measurement
    hold = nmse((last.held[part] - measured)[held], measured[held])
    smoothness = roughness(last.predicted[part]) / np.maximum(roughness(measured), np.finfo(float).tiny)
    every = {"off-line": none if off_line is None else off_line, **errors, "hold": hold}
    seconds = (last.stamps - last.stamps[0]) * 1e-9
    inner = ((seconds >= edge) & (seconds <= seconds[-1] - edge))[part]
    beside = nmse(last.errors[part][inner], measured[inner])
    return Judgement(last.output_names, ~mere_quantization(measured), every, smoothness, within.mean(axis=0), beside)


def roughness(values: Array) -> Array:
    """Return the standard deviation of the successive differences of each column, (n_columns,)."""
    return np.asarray(np.diff(values, axis=0).std(axis=0))


def mere_quantization(measured: Array) -> np.ndarray:
    """Return which columns (n, n_outputs) show hardly more than the steps of their sensor, (n_outputs,) bool.

    These are the columns in which five values make up 98 % of all samples. A Gaussian signal that is rounded to steps
    has that few levels if its standard deviation is about one step or less: then a twelfth of the step's square, the
    variance that rounding adds, is no longer small beside the signal.
    """
    table = finite("measured", measured)
    counts = [np.sort(np.unique(column, return_counts=True)[1])[::-1] for column in table.T]
    return np.array([count[:FEW_LEVELS].sum() >= NEARLY_ALL * len(table) for count in counts])


def geometric_mean(values: Sequence[float] | Array) -> float:
    """Return the geometric mean of positive numbers; NaN without any."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(values)))) if len(values) else float("nan")
