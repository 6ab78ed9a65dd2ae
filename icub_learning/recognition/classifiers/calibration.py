"""What held-back views say about a classifier: how sure a label is, and how typical a view is of known objects."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from icub_learning.arrays import Array
from icub_learning.recognition.classifiers.confidence import Confidence
from icub_learning.recognition.classifiers.kept_views import KeptViews, unit
from icub_learning.recognition.classifiers.whitened_kernel import WhitenedKernelMachine, hold_back
from icub_learning.recognition.classifiers.workspace import Workspace

REGULARIZATIONS = (0.1, 0.3, 1.0)  # candidates for the lambda of the kernel machine, of a kernel with k(x, x) = 1
SMALLEST_WIDTH = 0.01  # of the smoothing of the distribution of top scores, which are about 0 to 1


class Typicality:
    """How often a view of a known object scores as low as this one: a p-value, from the top scores of held-back views.

    The distribution of the top scores is smoothed by Gaussians (width: Silverman's rule), so that views less typical
    than all held-back ones can still be told apart.

    Args:
        top: (n,) largest score of each held-back view under a machine that did not learn it; without any, the top
            score itself, which is between 0 and 1, takes the place of the share.
    """

    def __init__(self, top: Array) -> None:
        self._top = np.sort(top)
        if len(top):
            self._width = max(SMALLEST_WIDTH, 0.9 * float(np.std(top)) * len(top) ** -0.2)

    def __call__(self, top: Array) -> Array:
        """Return the shares in [0, 1] of views of known objects whose top scores are at most these (m,)."""
        if not len(self._top):
            return np.asarray(np.clip(top, 0.0, 1.0))
        return np.asarray(ndtr((top[:, None] - self._top) / self._width).mean(axis=1))


@dataclass(frozen=True)
class Judgement:
    """What a classifier makes of one view, or of several views of one object.

    Attributes:
        nearest: class with the largest score; "" without classes.
        scores: (T,) recoded scores, averaged over the views.
        confidence: probability in [0, 1] that `nearest` is right, if the object is one of the known ones.
        typicality: share in [0, 1] of views of known objects that score as low as this one; near 0 for what is new.
    """

    nearest: str
    scores: Array
    confidence: float
    typicality: float


class Calibration:
    """The kept views, each judged by what the other parts of its class and the other classes teach.

    Args:
        kept: the views.
        n_classes: T.
        factors: (T,) recoding factors, under which the regularization is chosen.
        transfer: between classes, in [0, 1]; see `ridge_coefficients`.
        workspace: what `workspace_for` returned; all that was taken from it before becomes invalid.

    Attributes:
        n_classes, factors, workspace: as given.
        typicality: what the largest score of the machine says, under its mixed kernel.
        parts: (n,) the part of its class in which each view is held back.
        judged: (n,) whether a view can be judged without its part.
        scores: (n, T) of the kept views, each under the other parts.
        regularization: lambda of the machine, the candidate with the most views right, then the smallest error.
    """

    def __init__(self, kept: KeptViews, n_classes: int, factors: Array, transfer: float, workspace: Workspace) -> None:
        workspace.clear()
        self.n_classes, self.factors = n_classes, factors
        self._kept, self._transfer, self.workspace = kept, transfer, workspace
        targets, self.parts = kept.targets, kept.parts()
        sizes = kept.n_features, n_classes
        self._directions = workspace.take(*kept.rows.shape)  # a copy: views may come and go while it is in use
        self._directions[:] = kept.rows
        found = hold_back(kept.gram, targets, self.parts, *sizes, REGULARIZATIONS, transfer, workspace)
        self.judged = found.judged
        best = _choose(found.scores[:, self.judged], targets[self.judged], factors)
        self.regularization, self.scores = REGULARIZATIONS[best], found.scores[best]
        self.typicality = Typicality(found.mixed[self.judged].max(axis=1, initial=-np.inf))
        self._machine: WhitenedKernelMachine | None = None  # of all views; None without any
        if len(kept):
            self._machine = WhitenedKernelMachine(kept.gram, targets, *sizes, self.regularization, transfer, workspace)

    def held_back(self, parts: NDArray[np.intp]) -> tuple[Array, NDArray[np.bool_]]:
        """Return scores (n, T) of the views, each without its part in (n,), and which ones (n,) could be judged.

        The regularization is the one that `parts` chose. The views must still be those of the calibration.
        """
        if np.array_equal(parts, self.parts):
            return self.scores, self.judged
        kept, candidates = self._kept, (self.regularization,)
        sizes = kept.n_features, self.n_classes
        found = hold_back(kept.gram, kept.targets, parts, *sizes, candidates, self._transfer, self.workspace)
        return found.scores[0], found.judged

    def machine_scores(self, z: Array) -> Array:
        """Return the scores (m, T) of z (m, d) under all views, before recoding; (m, 0) without any view."""
        if self._machine is None:
            return np.zeros((len(z), 0))
        directions = unit(z)
        return self._machine.scores(directions @ self._directions.T, (directions**2).sum(axis=1))

    def mixed_scores(self, z: Array) -> Array:
        """Return the scores (m, T) of z (m, d) under the mixed kernel; ones without any view."""
        if self._machine is None:  # a model that was saved without kept views
            return np.ones((len(z), self.n_classes))
        directions = unit(z)
        return self._machine.mixed_scores(directions @ self._directions.T, (directions**2).sum(axis=1))


def workspace_for(kept: KeptViews) -> Workspace:
    """Return memory for the calibration of as many views as may be kept."""
    return Workspace(kept.capacity * (5 * kept.capacity + kept.n_features))


def fit_confidence(scores: Array, targets: NDArray[np.intp], factors: Array) -> Confidence:
    """Return the confidence that fits held-back views; that of the prior without any.

    Args:
        scores: (n, T) of held-back views, before recoding.
        targets: (n,) indices of their classes.
        factors: (T,) recoding factors.
    """
    return Confidence().fit(scores * factors, factors, targets)


def _choose(found: Array, targets: NDArray[np.intp], factors: Array) -> int:
    """Return the index of the regularization with the most views right, then with the smallest squared error."""
    if not len(targets):
        return len(found) // 2
    right = ((found * factors).argmax(axis=2) == targets).sum(axis=1)
    errors = ((found - np.eye(found.shape[2])[targets]) ** 2).sum(axis=(1, 2))
    return int(np.lexsort((errors, -right))[0])
