"""One set of settings from which node and command line build the same regressor, estimator and stream."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from icub_learning.dynamics.derivatives import CausalDerivatives
from icub_learning.dynamics.joint_states import JointStateReader
from icub_learning.dynamics.nonparametric import NonparametricEstimator
from icub_learning.dynamics.parametric import ParametricEstimator
from icub_learning.dynamics.semiparametric import SemiparametricEstimator
from icub_learning.dynamics.stream import InverseDynamicsStream
from icub_learning.dynamics.torque_regressor import TorqueRegressor
from icub_learning.dynamics.wrench_regressor import WrenchRegressor
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
        friction: whether the regressor has friction and offset columns (joint_torque).
        estimator: "semiparametric", "parametric" or "nonparametric".
        n_random_features, length_scale, n_warm_up, seed: see RandomFeatureLearner.
        parametric_regularization, prior: see ParametricEstimator.
        nonparametric_regularization: lambda of the random features.
        forgetting: in (0, 1].
        derivative_window, derivative_order, derivative_delay, velocity_weight, max_gap: see CausalDerivatives.
        velocity_source: "message" or "estimated".
        joint_order: "configured" or "any".
        tolerance: s, farthest that the stamps of a measurement and its joint state may lie apart.
    """

    urdf: str
    joints: Sequence[str] = field(default_factory=tuple)
    output: str = "wrench"
    sensor: str = "r_arm_ft_sensor"
    friction: bool = True
    estimator: str = "semiparametric"
    n_random_features: int = 1000
    length_scale: float = 4.0
    parametric_regularization: float = 10.0
    nonparametric_regularization: float = 0.03
    forgetting: float = 1.0
    prior: str = "zero"
    n_warm_up: int = 200
    seed: int = 0
    derivative_window: int = 9
    derivative_order: int = 3
    derivative_delay: int = 4
    velocity_weight: float = 0.05
    max_gap: float = 0.1
    velocity_source: str = "message"
    joint_order: str = "configured"
    tolerance: float = 0.0025


SETTING_NAMES = tuple(entry.name for entry in fields(Settings))


def make_regressor(settings: Settings) -> AnyRegressor:
    """The regressor of the settings. Raises ModelError, ParameterError."""
    if settings.output == "wrench":
        return WrenchRegressor.from_urdf(settings.urdf, settings.joints, settings.sensor)
    if settings.output == "joint_torque":
        return TorqueRegressor.from_urdf(settings.urdf, settings.joints, settings.friction)
    raise ParameterError("output", settings.output, "'wrench' or 'joint_torque'")


def make_estimator(settings: Settings, regressor: AnyRegressor) -> AnyEstimator:
    """A new estimator that has learned nothing. Raises ParameterError."""
    s = settings
    if s.estimator == "parametric":
        return ParametricEstimator(regressor, s.parametric_regularization, s.forgetting, s.prior)
    random_features = {
        "n_random_features": s.n_random_features,
        "length_scale": s.length_scale,
        "forgetting": s.forgetting,
        "n_warm_up": s.n_warm_up,
        "seed": s.seed,
    }
    if s.estimator == "nonparametric":
        return NonparametricEstimator(regressor, regularization=s.nonparametric_regularization, **random_features)
    if s.estimator == "semiparametric":
        return SemiparametricEstimator(
            regressor,
            parametric_regularization=s.parametric_regularization,
            nonparametric_regularization=s.nonparametric_regularization,
            prior=s.prior,
            **random_features,
        )
    raise ParameterError("estimator", s.estimator, "'semiparametric', 'parametric' or 'nonparametric'")


def make_stream(settings: Settings, regressor: AnyRegressor, estimator: AnyEstimator) -> InverseDynamicsStream:
    """The stream that feeds `estimator`. Raises ParameterError."""
    s = settings
    measured = s.velocity_source == "message"
    reader = JointStateReader(
        regressor.joints, regressor.known_joints, any_order=s.joint_order == "any", need_velocity=measured
    )
    weight = s.velocity_weight if measured else 0.0
    derivatives = CausalDerivatives(
        regressor.n_joints, s.derivative_window, s.derivative_order, weight, s.derivative_delay, s.max_gap
    )
    return InverseDynamicsStream(
        estimator,
        reader,
        derivatives,
        regressor.output_names,
        effort=s.output == "joint_torque",
        tolerance=s.tolerance,
    )
