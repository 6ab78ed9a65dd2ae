"""Calibration on held-back views: the best machine, confidence in a label, typicality of a view of known objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.kept_views import N_PARTS, KeptViews
from icub_learning.recognition.classifiers.whitened import Machine, Portion, Scores, Statistics

SHRINKAGES = (0.05, 0.5, 1.0)  # candidate shrinkages of the covariance within classes; 1 whitens nothing
MEAN_WEIGHTS = (0.0, 0.3, 1.0, 3.0, 10.0)  # candidate weights of the class means beside the kept views
CANDIDATES = tuple(product(range(len(SHRINKAGES)), range(len(MEAN_WEIGHTS))))
DEFAULT = CANDIDATES.index((1, 1))  # candidate in force until another one is clearly better
MARGIN = 1.0  # standard errors by which another candidate has to be better
SMALLEST_WIDTH = 0.001  # smallest width that smooths the distribution of top scores, which are about 0 to 2
MAX_STEPS = 20  # largest number of steps of Newton's method
# Normal prior of the three coefficients of the confidence: mean and inverse variance.
PRIOR_MEAN = np.array([-1.0, 4.0, 1.0])
PRIOR_PRECISION = np.array([0.1, 0.1, 0.1])


class Typicality:
    """How often a view of a known object scores as low as this one: a p-value, from the top scores of held-back views.

    Their distribution is smoothed by Gaussians (width: Silverman's rule), so that views less typical than all held-back
    ones can still be told apart; the scores are first shrunk to their mean, so that smoothing keeps their variance.
    Without held-back views, the share is the top score itself, limited to [0, 1].
    """

    def __init__(self, top: Array) -> None:
        self._top = top
        if len(top):
            mean, deviation = float(np.mean(top)), float(np.std(top))
            width = 0.9 * deviation * len(top) ** -0.2
            self._top = mean + (top - mean) * np.sqrt(max(0.0, 1.0 - (width / max(deviation, SMALLEST_WIDTH)) ** 2))
            self._width = max(SMALLEST_WIDTH, width)

    def __call__(self, top: Array) -> Array:
        """Return the shares in [0, 1] of views of known objects whose top scores are at most these (m,)."""
        if not len(self._top):
            return np.asarray(np.clip(top, 0.0, 1.0))
        return np.asarray(ndtr((top[:, None] - self._top) / self._width).mean(axis=1))


@dataclass(frozen=True)
class Judgement:
    """What a classifier makes of one view, or of several views of one object."""

    nearest: str  # class with the largest score; "" without classes
    scores: Array  # (T,), recoded, averaged over the views
    confidence: float  # probability in [0, 1] that `nearest` is right, if the object is one of the known ones
    typicality: float  # share in [0, 1] of views of known objects that score as low as this one; near 0 for what is new


class Calibration:
    """Judges each kept view by a machine that learned all views except those in the same part of its class.

    The pair of shrinkage and weight of the means in force is the one that names most held-back views right, if the
    views on which it and the default differ show that by MARGIN, so that chance does not choose. For this, views are
    held back in random thirds, so that settings do not depend on the order of teaching.

    Top scores grow with the number k of views of an object about as c - b / k, b the `lack`. Typicality compares c: a
    held-back view is judged by fewer views than a new one will be, and objects with three views stand beside others
    with twenty. `factors` (T,) are those of recoding; `shrinkage` and `mean_weight` are the values in force.
    """

    def __init__(self, kept: KeptViews, known: Statistics, factors: Array) -> None:
        self._known, self.n_classes, parts = known, len(factors), kept.random_parts()
        self._factors = factors / factors.min(initial=np.inf)  # for scores by views; scores by means need none
        judged, found = self._hold_back(SHRINKAGES, [parts != part for part in range(N_PARTS)], True)
        place, weight = CANDIDATES[self._choose(found, judged)]
        self.shrinkage, self.mean_weight = SHRINKAGES[place], MEAN_WEIGHTS[weight]
        learned = np.ones(len(kept), dtype=bool)
        self._machine = Machine(Portion(known, learned), self.shrinkage) if self.n_classes else None
        self._kept, self.lack = np.bincount(known.targets, minlength=self.n_classes), 0.0
        self._typicality = Typicality(self._tops_held_back(kept.unlike_parts()))

    def held_back(self, parts: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        """Return recoded scores (n, T) of the views, each without its part of (n,), and which (n,) could be judged."""
        judged, (scores,) = self._hold_back([self.shrinkage], [parts != part for part in np.unique(parts)], True)
        return self._combined(scores, self.mean_weight), judged

    def scores_of(self, z: Array) -> tuple[Array, Array]:
        """Return recoded scores (m, T) of z (m, d) by all views, and scores for typicality; (m, 0) without classes."""
        if self._machine is None:
            return np.zeros((len(z), 0)), np.zeros((len(z), 0))
        found = self._machine.scores(z)
        return self._combined(found, self.mean_weight), found.mixed

    def typicality(self, mixed: Array) -> Array:
        """Return the typicality (m,) of views with these scores (m, T) under the mixed kernel; 0 without classes."""
        return self._typicality(self._tops(mixed, self._kept)) if mixed.size else np.zeros(len(mixed))

    def _combined(self, scores: Scores, weight: float) -> Array:
        return np.asarray((scores.views * self._factors + weight * scores.means) / (1.0 + weight))

    def _hold_back(
        self, shrinkages: Sequence[float], learned: list[NDArray[np.bool_]], names: bool
    ) -> tuple[NDArray[np.bool_], list[Scores]]:
        """Return which views (n,) could be judged, and by shrinkage their mean scores, for names or typicality."""
        known, n = self._known, len(self._known.targets)
        times, found = np.zeros(n), [Scores(*np.zeros((3, n, self.n_classes))) for _ in shrinkages]
        for some in learned:
            if not some.any() or some.all():
                continue
            portion = Portion(known, some)
            held = ~some & portion.present[known.targets]
            times[held] += 1.0
            for table, shrinkage in zip(found, shrinkages, strict=True):
                machine = Machine(portion, shrinkage)
                scores = machine.scores_at(known.rows[held], known.lengths[held], names, not names)
                for kind in ("views", "means", "mixed"):
                    getattr(table, kind)[held] += getattr(scores, kind)
        for table in found:
            for values in (table.views, table.means, table.mixed):
                values /= np.maximum(times, 1.0)[:, None]
        return times > 0, found

    def _choose(self, found: list[Scores], judged: NDArray[np.bool_]) -> int:
        targets = self._known.targets
        right = np.array([
            (self._combined(found[place], MEAN_WEIGHTS[weight]).argmax(axis=1) == targets)[judged]
            for place, weight in CANDIDATES
        ]) if len(targets) and self.n_classes else np.zeros((len(CANDIDATES), 0), dtype=bool)  # fmt: skip
        best = int(right.sum(axis=1).argmax())
        gained, lost = (right[best] & ~right[DEFAULT]).sum(), (right[DEFAULT] & ~right[best]).sum()
        return best if gained - lost > MARGIN * np.sqrt(gained + lost) else DEFAULT

    def _tops(self, mixed: Array, kept: NDArray[np.intp]) -> Array:
        """Return top scores (m,) as with many views, from scores (m, T) by `kept` views per class, (T,) or (m, T)."""
        best = np.arange(len(mixed)), mixed.argmax(axis=1)
        return np.asarray(mixed[best] + self.lack / np.maximum(np.broadcast_to(kept, mixed.shape)[best], 1))

    def _tops_held_back(self, parts: NDArray[np.intp]) -> Array:
        """Fit `lack` to machines that learned one of the parts (n,) and others that learned two; return `_tops`."""
        judged, (most,) = self._hold_back([self.shrinkage], [parts != part for part in range(N_PARTS)], False)
        also, (less,) = self._hold_back([self.shrinkage], [parts == part for part in range(N_PARTS)], False)
        if not judged.any():
            return np.zeros(0)
        in_part = np.zeros((N_PARTS, self.n_classes), np.intp)
        np.add.at(in_part, (parts, self._known.targets), 1)
        kept = self._kept - in_part[parts]  # (n, T) number of views of each class that judged a view
        every, targets = np.arange(len(parts)), self._known.targets
        own, alone = kept[every, targets], in_part[:, targets]
        alone[parts, every] = 0  # (N_PARTS, n) number of views that judged a view, one part at a time
        few = ((alone > 0) / np.maximum(alone, 1)).sum(axis=0) / np.maximum((alone > 0).sum(axis=0), 1)
        # Judged by `own` views and by one part of them at a time, which lack few - 1 / own more.
        both = judged & also & (few * own > 1.0)
        if both.any():
            gained = (most.mixed.max(axis=1) - less.mixed.max(axis=1))[both].sum()
            self.lack = max(0.0, float(gained / (few[both] - 1.0 / own[both]).sum()))
        return self._tops(most.mixed[judged], kept[judged])


class Confidence:
    """Bayesian logistic regression for the probability that the class with the largest score is right.

    Its inputs, from recoded scores s_1 >= s_2 >= ..., are the relative margin (s_1 - s_2) / s_1 and the unrecoded score
    of the first class, near 1 for a view similar to those learned. The coefficients maximize the posterior, given the
    outcomes of held-back views; before `fit` they are the mean of the prior.
    """

    def __init__(self) -> None:
        self._coefficients = PRIOR_MEAN.copy()
        self.recall = np.zeros(0)  # (T,) recall of each class, see Classifier.recall

    def fit(
        self, scores: Array, factors: Array, targets: NDArray[np.intp], weights: Array | None = None
    ) -> "Confidence":
        """Fit to recoded scores (n, T) of held-back views: factors (T,), targets (n,), weights (n,); return self."""
        self.recall = np.full(scores.shape[1], np.nan)
        if not len(scores):
            return self
        weights = np.ones(len(scores)) if weights is None else weights
        correct = (scores.argmax(axis=1) == targets).astype(float)
        right, judged = (np.bincount(targets, each, len(self.recall)) for each in (weights * correct, weights))
        self.recall[judged > 0] = ((right + np.average(correct, weights=weights)) / (judged + 1.0))[judged > 0]
        if scores.shape[1] > 1:  # with one class every label is right
            self._coefficients = _fit(np.array([_regressors(row, factors) for row in scores]), correct, weights)
        return self

    def __call__(self, scores: Array, factors: Array) -> float:
        """Return the probability for recoded scores (T,) and their recoding factors (T,); 0 without classes."""
        return float(expit(_regressors(scores, factors) @ self._coefficients)) if len(scores) else 0.0


def _regressors(scores: Array, factors: Array) -> Array:
    """Return 1, the relative margin, and the unrecoded score of the first class, at most 2."""
    first = int(np.argmax(scores))
    best = scores[first]
    if best <= 0.0:  # the scores support no class
        return np.array([1.0, 0.0, 0.0])
    second = max(0.0, float(np.partition(scores, -2)[-2])) if len(scores) > 1 else 0.0
    return np.array([1.0, (best - second) / best, min(best / factors[first], 2.0)])


def _fit(inputs: Array, correct: Array, weights: Array) -> Array:
    """Return the maximum a posteriori coefficients, by Newton's method with step halving."""
    coefficients = np.array(PRIOR_MEAN)
    value = _loss(coefficients, inputs, correct, weights)
    for _ in range(MAX_STEPS):
        probability = expit(inputs @ coefficients)
        gradient = inputs.T @ (weights * (probability - correct)) + PRIOR_PRECISION * (coefficients - PRIOR_MEAN)
        curvature = (weights * probability * (1.0 - probability))[:, None] * inputs
        step = np.linalg.solve(inputs.T @ curvature + np.diag(PRIOR_PRECISION), gradient)
        while (new := _loss(coefficients - step, inputs, correct, weights)) > value and np.abs(step).max() > 1e-9:
            step = step / 2.0
        coefficients, value = coefficients - step, new
        if np.abs(step).max() < 1e-6:
            break
    return coefficients


def _loss(coefficients: Array, inputs: Array, correct: Array, weights: Array) -> float:
    activation = inputs @ coefficients
    misfit = weights * (np.logaddexp(0.0, activation) - correct * activation)
    return float(misfit.sum() + 0.5 * (PRIOR_PRECISION * (coefficients - PRIOR_MEAN) ** 2).sum())
