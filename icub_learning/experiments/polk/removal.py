"""How far POLK's removal of points changes its function, computed from what it keeps alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.kernel_methods import Kernel, POLKClassifier
from icub_learning.kernel_methods.kernels import blocks
from icub_learning.kernel_methods.online.losses import MARGIN_LOSSES


def largest_change(model: POLKClassifier, x: Array, y: NDArray[np.intp], n_classes: int) -> float:
    """Learn the samples in their order and return the largest ||f - f~|| / epsilon over all steps.

    f~ = (1 - eta lambda) f - (eta / B) sum_b l'(f(x_b), y_b) k(x_b, .) is the step before points are removed, f the
    iterate after it. POLK promises at most 1 for the iterate (Algorithm 2, Theorem 3), not for the average that
    predicts. The norms come from Gram matrices, independently of those that the learner keeps. `model` is not fitted
    yet, for three classes or more with epsilon > 0; labels y (n,) are 0 to n_classes - 1.
    """
    kernel = Kernel("gaussian", model.length_scale)
    points, weights = np.zeros((0, x.shape[1])), np.zeros((0, n_classes))
    largest = 0.0
    for batch in blocks(len(x), model.batch_size):
        now = x[batch]
        scores = kernel(now, points) @ weights if len(points) else np.zeros((len(now), n_classes))
        slope = MARGIN_LOSSES[model.loss](scores, y[batch])[1]
        step: list[Any] = [(1 - model.step_size * model.regularization) * weights, -model.step_size / len(now) * slope]
        model.partial_fit(now, y[batch], classes=np.arange(n_classes))
        after = model.dictionary_
        everything = np.concatenate([points, now, after])
        change = np.concatenate([*step, -model.coef_])
        square = float(np.einsum("ij,ij->", change, kernel(everything, everything) @ change))
        largest = max(largest, np.sqrt(max(0.0, square)) / model.error_bound_)
        points, weights = after, model.coef_
    return float(largest)
