"""A snapshot of a bank of joint processes and of rigid bodies, which predicts."""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.dynamics.estimators.parametric import ParametricPredictor
from icub_learning.dynamics.estimators.prediction import feature_inputs, motion_vectors
from icub_learning.dynamics.joint import _experts
from icub_learning.dynamics.joint.bank import REGULARIZATION, BankWeights
from icub_learning.dynamics.joint.experts import ExpertPredictions, ExpertPredictor, ExpertWeights, Unlearned
from icub_learning.dynamics.joint.process import BodyCertainty, ProcessCertainty
from icub_learning.dynamics.regressors.regressor import Regressor, offset_indices
from icub_learning.features import MultiscaleFourierFeatures


class _Learned(NamedTuple):
    """What a JointPredictor predicts from."""

    regressor: Regressor
    features: MultiscaleFourierFeatures
    bank: BankWeights
    rigid: ParametricPredictor | None  # predicts P; None without rigid bodies
    certainty: ProcessCertainty  # variance of what the model of all samples does not know of a motion
    few: list[ProcessCertainty]  # the same for the features of the last seconds
    bodies: list[BodyCertainty]  # the same for the rigid bodies of the last seconds
    signals: Array  # (2, n_outputs) mean squares of what features learn: alone, and beside rigid bodies (what P leaves)
    weights: ExpertWeights  # those of the estimator itself, so that they follow each measurement
    tare: Array  # (n_outputs,) offset of the sensor that `tare` has added


class JointPredictor(_Learned, ExpertPredictor):
    """The Predictor of NP and SP.

    What an expert has not learned of a motion has a variance of its own (docs/theory/joint_model.md, "Confidence").
    Let nu be the share of the features that lies outside of what was learned, v the mean square of the function they
    learn, s^2 the noise variance, lambda the regularization, and n the number of errors worth one (SerialCorrelation).
    Features miss nu v of what they have never seen, and vary by at most nu (1 - nu) n s^2 / lambda where they have seen
    little. SP adds n times the variance of its parameters (Rasmussen and Williams 2006, eq. 2.41). P always leaves v,
    and more in a motion of unusual leverage (UsualLeverage). A body of the last seconds knows no more of a motion than
    SP does, and adds n times the variance of its own parameters. Features of the last seconds know no more than NP
    does, and add the variance of their own weights.
    """

    @property
    def parameters(self) -> Array | None:
        """Parameters (n_parameters,) of P, with the tare in the offsets of the sensor; None without rigid bodies."""
        if self.rigid is None:
            return None
        parameters: Array = self.rigid.parameters.copy()
        offsets = list(offset_indices(self.regressor))
        parameters[offsets] += self.tare[: len(offsets)]
        return parameters

    def _experts_of(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> ExpertPredictions:
        motion = motion_vectors(self.regressor.n_joints, q, v, a)
        phi = self.features.waves(feature_inputs(self.regressor, motion))
        return self.experts(phi, None if self.rigid is None else self.regressor(*motion))

    def experts(self, phi: Array, rows: Array | None) -> ExpertPredictions:
        """Return what the experts predict: P, NP, SP, then each NP and each body of the last seconds; or the NP alone.

        `rows` (n_outputs, n_parameters) are the regressor's, None without rigid bodies; phi is (n_features,).
        """
        maps, recent, scale, sets = self.bank
        values = np.empty((1 + len(recent[1]) + (0 if sets is None else len(sets)), len(self.tare)))
        work = np.empty(max(len(phi), len(self.tare)))
        _experts.predict(values, work, phi, self.tare, maps, recent, scale, rows, sets)
        parametric, expected = (np.zeros(len(self.tare)), values[0]) if sets is None else (values[0], values[2])
        find = partial(self._unlearned, phi, rows)
        return ExpertPredictions(
            values, parametric, expected, phi, rows, find, self.weights, self.weights.aggregation.choices
        )

    def _unlearned(self, phi: Array, rows: Array | None) -> Unlearned:
        """Return what has not been learned of a motion, see above; arguments as in `experts`."""
        novelty = min(REGULARIZATION * self.certainty.of_features(phi), 1.0)  # more where forgetting faded the prior
        correlation, columns = self.weights.correlation.value, self.certainty.columns
        swing = novelty * (1.0 - novelty) / REGULARIZATION * correlation * self.certainty.noise
        alone, share = novelty * self.signals[0] + swing, self.bank.scale * phi[self.bank.recent[0]]
        recent = [alone + few.of_features(share) * few.noise for few in self.few]
        if rows is None or self.rigid is None or columns is None:
            return Unlearned(novelty, np.array([alone, *recent]), alone, self.certainty.noise)
        first = 3 + len(recent)  # row of the first body
        found = np.empty((first + len(self.bodies), len(alone)))
        found[0] = self.signals[1] * (1.0 + self.rigid.unlearned(rows))  # P never learns what it leaves
        found[1], found[3:first] = alone, recent
        of_parameters = correlation * self.certainty.of_rigid_bodies(phi, columns.of(rows), self.bodies)
        found[2] = novelty * self.signals[1] + swing + of_parameters[0]
        np.add(found[2], of_parameters[1:], out=found[first:])
        return Unlearned(novelty, found, found[2], self.certainty.noise)
