"""Build regressor, estimator and stream from one set of settings, the same for node and command line."""

from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.estimators.parametric import ParametricEstimator
from icub_learning.dynamics.estimators.prediction import Estimator
from icub_learning.dynamics.estimators.semiparametric import NonparametricEstimator, SemiparametricEstimator
from icub_learning.dynamics.motion.joint_states import JointStateReader
from icub_learning.dynamics.motion.motion_filter import MotionFilter
from icub_learning.dynamics.own_learner import OwnLearner
from icub_learning.dynamics.regressors.link_effects import LinkEffects
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WrenchRegressor
from icub_learning.dynamics.settings import ESTIMATORS, Settings
from icub_learning.dynamics.stream.stream import InverseDynamicsStream, MotionSource
from icub_learning.robots import find_urdf

AnyRegressor = WrenchRegressor | TorqueRegressor
AnyEstimator = ParametricEstimator | NonparametricEstimator | SemiparametricEstimator


def make_regressor(settings: Settings) -> AnyRegressor:
    """Return the regressor of the settings. Raises ModelError, ParameterError."""
    s, urdf = settings, find_urdf(settings.urdf)
    if s.output == "joint_torque":
        return TorqueRegressor.from_urdf(urdf, s.joints, s.friction)
    return WrenchRegressor.from_urdf(urdf, s.joints, s.sensor, s.wrench_direction, s.sensor_offset, s.sensor_gain)


def make_estimator(settings: Settings, regressor: AnyRegressor) -> AnyEstimator:
    """Return a new estimator that has learned nothing; for a user's class, an OwnLearner. Raises ParameterError."""
    s = settings
    if s.estimator not in ESTIMATORS:
        own: AnyEstimator = OwnLearner.of(s.estimator)(regressor)
        return own
    if s.estimator == "parametric":
        return ParametricEstimator(
            regressor, s.parametric_regularization, s.forgetting, s.prior, s.output_weights, s.offset_forgetting
        )
    if s.estimator == "nonparametric":
        return NonparametricEstimator(regressor, s.n_random_features, s.forgetting, s.seed)
    return SemiparametricEstimator(
        regressor, s.n_random_features, s.forgetting, s.seed, parametric_regularization=s.parametric_regularization,
        prior=s.prior, output_weights=s.output_weights, offset_forgetting=s.offset_forgetting,
    )  # fmt: skip


def make_reader(settings: Settings, regressor: AnyRegressor) -> JointStateReader:
    """Return the reader that checks joint states and picks the learned joints."""
    known = (*regressor.known_joints, *settings.extra_joints)
    any_order, source = settings.joint_order == "any", settings.velocity_source
    return JointStateReader(regressor.joints, known, regressor.circular, any_order=any_order, velocity_source=source)


def make_motion_filter(settings: Settings, regressor: AnyRegressor) -> MotionFilter:
    """Return a new motion filter; a negative velocity_delay lets it estimate the delay. Raises ParameterError."""
    delay = None if settings.velocity_delay < 0 else settings.velocity_delay
    return MotionFilter(regressor.n_joints, max_gap=settings.max_gap, velocity_delay=delay, circular=regressor.circular)


def make_watch(settings: Settings, regressor: AnyRegressor) -> ChangeMonitor | None:
    """Return what finds loads and contacts, or None without. Raises ModelError for an unknown link."""
    if settings.watch == "never" or (settings.watch == "wrench" and settings.output != "wrench"):
        return None
    effects = LinkEffects(regressor, settings.load_link)
    return ChangeMonitor(effects, settings.contact_false_alarms, settings.longest_contact)


def make_stream(
    settings: Settings, regressor: AnyRegressor, estimator: Estimator, motions: MotionSource | None = None
) -> InverseDynamicsStream:
    """Return the stream that feeds `estimator`, from a motion filter unless given. Raises ParameterError."""
    return InverseDynamicsStream(
        estimator, make_reader(settings, regressor), motions or make_motion_filter(settings, regressor),
        regressor.output_names, effort=settings.output == "joint_torque", tolerance=settings.tolerance,
        watch=make_watch(settings, regressor),
        follow_velocity_noise=regressor.follow_velocity_noise if isinstance(regressor, TorqueRegressor) else None,
    )  # fmt: skip
