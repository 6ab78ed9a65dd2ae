"""What an aggregate predicts: one linear map of rigid-body rows and features, and another one for new motions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators import _product
from icub_learning.dynamics.estimators.aggregate.expert_pool import LEVERAGE_SCALE, REGULARIZATIONS
from icub_learning.dynamics.estimators.prediction import Prediction, motion_vectors
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.recursive import Certainty, RecursiveLeastSquares


@dataclass(frozen=True)
class Combination:
    """A combination of experts as one linear map.

    Attributes:
        share: (n_outputs,), the weight of experts that contain the rigid-body prediction.
        weights: (n_outputs, features of all length scales in the order of `features.waves`).
    """

    share: Array
    weights: Array


@dataclass(frozen=True)
class ExpectedErrors:
    """What prediction errors to expect.

    Attributes:
        noise: (n_outputs,) variance in motions that are known.
        factor: (n_outputs,) calibrating factor of what novelty adds.
        alone, beside: (n_outputs,) root mean square error in motions of which nothing was learned, of features alone
            and of features beside rigid bodies.
    """

    noise: Array
    factor: Array
    alone: Array
    beside: Array

    def added(self, share: Array, novelty: float) -> Array:
        """Return what novelty adds to the variance (n_outputs,), before calibration.

        That rigid bodies take the place of features in a new motion is left out: how well they will do is not known.

        Args:
            share: (n_outputs,), the weight in known motions of experts that contain the rigid-body prediction.
            novelty: share of the features of the motion that was not learned, see `unexplained`.
        """
        root = (1.0 - share) * self.alone + share * self.beside
        return np.asarray(root * root * novelty)

    def variance(self, share: Array, novelty: float) -> Array:
        """Return the variance (n_outputs,) of a measurement; see `added`."""
        return np.asarray(self.noise + self.factor * self.added(share, novelty))


@dataclass(frozen=True)
class AggregatedPredictor:
    """A Predictor of the aggregate.

    Attributes:
        regressor: regressor of the robot; `parameters` is None where rigid bodies are left out.
        features: features of all length scales.
        known: the combination for motions that are known.
        shift: what becomes of it, as a difference, where nothing of a motion was learned; None for nothing.
        certainty: gives the leverage of features.
        errors: to expect.
    """

    regressor: Regressor
    parameters: Array | None
    features: MultiscaleFourierFeatures
    known: Combination
    shift: Combination | None
    certainty: Certainty | RecursiveLeastSquares
    errors: ExpectedErrors

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        waves = self.features.waves(np.concatenate(motion))
        share, errors = self.known.share, self.errors
        learned = np.empty(len(share))
        _product.multiply(learned, 0, self.known.weights, waves)
        if self.parameters is None or self.shift is None:
            parametric = np.zeros_like(learned)
            return Prediction(
                learned.copy(), parametric, learned, lambda: errors.variance(share, self._novelty(waves)), errors.noise
            )
        novelty = self._novelty(waves)
        shifted, parametric = np.empty_like(learned), np.empty_like(learned)
        _product.multiply(shifted, 0, self.shift.weights, waves)
        _product.multiply(parametric, 0, self.regressor(*motion), self.parameters)
        handed_over = novelty * (shifted + self.shift.share * parametric)
        learned += (share - 1.0) * parametric + handed_over
        made = Prediction(parametric + learned, parametric, learned, errors.variance(share, novelty), errors.noise)
        made.handed_over = handed_over
        return made

    def _novelty(self, waves: Array) -> float:
        return unexplained(float(self.certainty.leverage(self.features.rows(waves)[LEVERAGE_SCALE])))


def unexplained(leverage: float) -> float:
    """Return the share, 0 to 1, of a motion's features that lies outside of what was learned; see SignalVariance.

    Args:
        leverage: under the smallest regularization: it is nearest to noise over signal, and what is learned with the
            others only follows slower.
    """
    return REGULARIZATIONS[0] * leverage
