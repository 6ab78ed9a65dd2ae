"""One set of settings from which node and command line build the same regressor, estimator and stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from icub_learning.dynamics.estimators.nonparametric import NonparametricEstimator
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.semiparametric import SemiparametricEstimator
from icub_learning.dynamics.motion.derivatives import CausalDerivatives
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.dynamics.stream.stream import Derivatives, Estimator, InverseDynamicsStream
from icub_learning.errors import ParameterError

AnyRegressor = WrenchRegressor | TorqueRegressor
AnyEstimator = ParametricEstimator | NonparametricEstimator | SemiparametricEstimator


@dataclass(frozen=True)
class Settings:
    """Everything that decides how inverse dynamics are learned; names and meanings are those of the node's parameters.

    Attributes:
        urdf: path or XML text.
        joints: learned joints, in the order of all arrays.
        output: "wrench" or "joint_torque".
        sensor: fixed joint of the force/torque sensor (wrench).
        wrench_direction: "parent_to_child" or "child_to_parent", see WrenchRegressor.
        friction: whether the regressor has friction and offset columns (joint_torque).
        estimator: "semiparametric", "parametric" or "nonparametric".
        n_random_features, length_scale, n_warm_up, seed: see RandomFeatureLearner.
        parametric_regularization, prior: see ParametricEstimator.
        nonparametric: "random_features", "nystrom" or "polk".
        nonparametric_regularization: lambda of the nonparametric part.
        step_size, parsimony, max_dictionary: see LearnerSettings (polk).
        forgetting: in (0, 1].
        derivative_window, derivative_order, derivative_delay, velocity_weight, velocity_delay, max_gap: see
            CausalDerivatives.
        velocity_source: "message" or "estimated".
        joint_order: "configured" or "any".
        extra_joints: names that joint states may hold although the URDF lacks them (fingers, say).
        tolerance: s, farthest that the stamps of a measurement and its joint state may lie apart.
    """

    urdf: str
    joints: Sequence[str] = field(default_factory=tuple)
    output: str = "wrench"
    sensor: str = "r_arm_ft_sensor"
    wrench_direction: str = "parent_to_child"
    friction: bool = True
    estimator: str = "semiparametric"
    nonparametric: str = "random_features"
    n_random_features: int = 1000
    length_scale: float = 5.0
    parametric_regularization: float = 10.0
    nonparametric_regularization: float = 0.003
    forgetting: float = 1.0
    prior: str = "zero"
    n_warm_up: int = 200
    seed: int = 0
    step_size: float = 0.5
    parsimony: float = 0.01
    max_dictionary: int = 300
    derivative_window: int = 9
    derivative_order: int = 3
    derivative_delay: int = 4
    velocity_weight: float = 0.05
    velocity_delay: float = 0.0
    max_gap: float = 1.0
    velocity_source: str = "message"
    joint_order: str = "configured"
    extra_joints: Sequence[str] = field(default_factory=tuple)
    tolerance: float = 0.0025


SETTING_NAMES = tuple(entry.name for entry in fields(Settings))


def make_regressor(settings: Settings) -> AnyRegressor:
    """The regressor of the settings. Raises ModelError, ParameterError."""
    if settings.output == "wrench":
        return WrenchRegressor.from_urdf(settings.urdf, settings.joints, settings.sensor, settings.wrench_direction)
    if settings.output == "joint_torque":
        return TorqueRegressor.from_urdf(settings.urdf, settings.joints, settings.friction)
    raise ParameterError("output", settings.output, "'wrench' or 'joint_torque'")


def make_estimator(settings: Settings, regressor: AnyRegressor) -> AnyEstimator:
    """A new estimator that has learned nothing. Raises ParameterError."""
    s = settings
    if s.estimator == "parametric":
        return ParametricEstimator(regressor, s.parametric_regularization, s.forgetting, s.prior)
    if s.estimator == "nonparametric":
        return NonparametricEstimator(
            regressor,
            s.n_random_features,
            s.length_scale,
            s.nonparametric_regularization,
            s.forgetting,
            s.n_warm_up,
            s.seed,
            nonparametric=s.nonparametric,
            step_size=s.step_size,
            parsimony=s.parsimony,
            max_dictionary=s.max_dictionary,
        )
    if s.estimator == "semiparametric":
        return SemiparametricEstimator(
            regressor,
            s.n_random_features,
            s.length_scale,
            s.parametric_regularization,
            s.nonparametric_regularization,
            s.forgetting,
            s.prior,
            s.n_warm_up,
            s.seed,
            nonparametric=s.nonparametric,
            step_size=s.step_size,
            parsimony=s.parsimony,
            max_dictionary=s.max_dictionary,
        )
    raise ParameterError("estimator", s.estimator, "'semiparametric', 'parametric' or 'nonparametric'")


def make_reader(settings: Settings, regressor: AnyRegressor) -> JointStateReader:
    """What checks joint states and picks the learned joints."""
    any_order, need_velocity = settings.joint_order == "any", settings.velocity_source == "message"
    known = (*regressor.known_joints, *settings.extra_joints)
    return JointStateReader(regressor.joints, known, any_order=any_order, need_velocity=need_velocity)


def velocity_weight(settings: Settings) -> float:
    """Of the derivatives [s]: 0 where velocities are estimated from positions."""
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
