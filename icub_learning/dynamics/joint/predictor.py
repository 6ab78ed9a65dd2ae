"""A snapshot of a bank of joint processes and of rigid bodies, which predicts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.prediction import Prediction, motion_vectors
from icub_learning.dynamics.joint.experts import ExpertPredictions, ExpertWeights
from icub_learning.dynamics.regressors.regressor import Regressor, offset_indices
from icub_learning.features import MultiscaleFourierFeatures
from icub_learning.recursive import Certainty


@dataclass(frozen=True)
class JointPredictor:
    """The Predictor of NP and SP.

    Attributes:
        regressor: regressor of the robot.
        features: features of the motion.
        maps: (n_members, kinds, n_outputs, n_features) weights of the features, see JointBank.maps.
        rigid: (1 + n_members, n_parameters) parameters of P and of each member; None without rigid bodies.
        certainty: gives the leverage of the first member.
        regularization: of the first member.
        unknown: see ExpertPredictions.
        weights: of the experts; the one that the estimator has, so that it follows what is judged.
        tare: (n_outputs,) offset of the sensor that was set at once.
    """

    regressor: Regressor
    features: MultiscaleFourierFeatures
    maps: Array
    rigid: Array | None
    certainty: Certainty
    regularization: float
    unknown: Array
    weights: ExpertWeights
    tare: Array

    @property
    def parameters(self) -> Array | None:
        """Parameters (n_parameters,) of P, with the tare in the offsets of the sensor; None without rigid bodies."""
        if self.rigid is None:
            return None
        parameters: Array = self.rigid[0].copy()
        offsets = list(offset_indices(self.regressor))
        parameters[offsets] += self.tare[: len(offsets)]
        return parameters

    def predict(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Prediction:
        """Predict from position, velocity, acceleration, each (n_joints,). Raises ShapeError, NotFiniteError."""
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        phi = self.features.waves(np.concatenate(motion))
        rows = None if self.rigid is None else self.regressor(*motion)
        return self.weights.combined(self.experts(phi, rows))

    def experts(self, phi: Array, rows: Array | None) -> ExpertPredictions:
        """Return what the experts predict: P, then NP and SP of each member; without rigid bodies NP of each.

        Args:
            phi: (n_features,).
            rows: (n_outputs, n_parameters) of the regressor; None without rigid bodies.
        """
        n_outputs = self.maps.shape[2]
        learned = (self.maps.reshape(-1, self.maps.shape[3]) @ phi).reshape(self.maps.shape[:3])
        if rows is None or self.rigid is None:
            values, parametric = learned[:, 0] + self.tare, np.zeros(n_outputs)
        else:
            rigid = self.rigid @ rows.T + self.tare
            learned[:, 0] += self.tare
            learned[:, 1] += rigid[1:]
            parametric = rigid[0]
            values = np.concatenate([rigid[:1], learned.reshape(-1, n_outputs)])
        novelty = self.regularization * float(self.certainty.leverage(phi))
        return ExpertPredictions(values, parametric, novelty, self.unknown)

    def judge(self, prediction: Prediction, measured: Array, elapsed: float) -> None:
        """Learn which experts were right, from the measurement of what this predictor predicted.

        Args:
            prediction: from `predict`.
            measured: (n_outputs,).
            elapsed: time since the last measurement [s].
        """
        if prediction.experts is not None:
            self.weights.judge(prediction.experts, measured, elapsed)
