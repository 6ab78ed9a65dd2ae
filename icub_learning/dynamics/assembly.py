"""Build regressor, estimator and stream from one set of settings, the same for node and command line."""

from dataclasses import fields

from icub_learning.dynamics.estimators.nonparametric import NonparametricEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.semiparametric import SemiparametricEstimator
from icub_learning.dynamics.motion.derivatives import CausalDerivatives
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.dynamics.settings import LearnerSettings, Settings
from icub_learning.dynamics.stream.stream import Derivatives, Estimator, InverseDynamicsStream

AnyRegressor = WrenchRegressor | TorqueRegressor
AnyEstimator = ParametricEstimator | NonparametricEstimator | SemiparametricEstimator


def make_regressor(settings: Settings) -> AnyRegressor:
    """The regressor of the settings. Raises ModelError, ParameterError."""
    if settings.output == "wrench":
        return WrenchRegressor.from_urdf(settings.urdf, settings.joints, settings.sensor, settings.wrench_direction)
    return TorqueRegressor.from_urdf(settings.urdf, settings.joints, settings.friction)


def make_estimator(settings: Settings, regressor: AnyRegressor) -> AnyEstimator:
    """A new estimator that has learned nothing. Raises ParameterError."""
    s = settings
    if s.estimator == "parametric":
        return ParametricEstimator(regressor, s.parametric_regularization, s.forgetting, s.prior)
    learner = {entry.name: getattr(s, entry.name) for entry in fields(LearnerSettings)}
    if s.estimator == "nonparametric":
        regularization = learner.pop("nonparametric_regularization")
        return NonparametricEstimator(regressor, regularization=regularization, **learner)
    return SemiparametricEstimator(
        regressor, parametric_regularization=s.parametric_regularization, prior=s.prior, **learner
    )


def make_reader(settings: Settings, regressor: AnyRegressor) -> JointStateReader:
    """What checks joint states and picks the learned joints."""
    any_order, need_velocity = settings.joint_order == "any", settings.velocity_source == "message"
    known = (*regressor.known_joints, *settings.extra_joints)
    return JointStateReader(regressor.joints, known, any_order=any_order, need_velocity=need_velocity)


def velocity_weight(settings: Settings) -> float:
    """Return the velocity weight of the derivatives [s], 0 where velocities are estimated from positions."""
    return settings.velocity_weight if settings.velocity_source == "message" else 0.0


def make_stream(
    settings: Settings, regressor: AnyRegressor, estimator: Estimator, derivatives: Derivatives | None = None
) -> InverseDynamicsStream:
    """The stream that feeds `estimator`, with causal derivatives unless others are given. Raises ParameterError."""
    s = settings
    causal = derivatives or CausalDerivatives(
        regressor.n_joints,
        s.derivative_window,
        s.derivative_order,
        velocity_weight(settings),
        s.derivative_delay,
        s.max_gap,
        s.velocity_delay,
    )
    effort = s.output == "joint_torque"
    reader = make_reader(settings, regressor)
    return InverseDynamicsStream(
        estimator, reader, causal, regressor.output_names, effort=effort, tolerance=s.tolerance
    )
