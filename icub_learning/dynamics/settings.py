"""The settings of learning inverse dynamics, shared by Python classes, node and command line."""

from collections.abc import Sequence
from dataclasses import dataclass

from icub_learning.settings import Validated, setting

OUTPUTS = ("wrench", "joint_torque")
ESTIMATORS = ("semiparametric", "parametric", "nonparametric")
NONPARAMETRIC = ("random_features", "nystrom", "polk")


@dataclass(frozen=True)
class RobotSettings(Validated):
    """What is learned, and from which robot. Raises ParameterError for a value outside its range."""

    urdf: str = setting(
        "icub", "robot description: a path, XML text, package://PACKAGE/FILE, or a known robot (icub, ur10, panda)"
    )
    joints: Sequence[str] = setting((), "joints to learn from, in the order of all arrays")
    output: str = setting(
        "wrench", "what is learned: the wrench at a force/torque sensor, or the efforts of the joints", choices=OUTPUTS
    )
    sensor: str = setting("r_arm_ft_sensor", "fixed joint of the force/torque sensor (output: wrench)")
    wrench_direction: str = setting(
        "parent_to_child",
        "whether the sensor measures the wrench on its child link, or the reaction to it (output: wrench)",
        choices=("parent_to_child", "child_to_parent"),
    )
    friction: bool = setting(True, "learn Coulomb friction, viscous friction and an offset (output: joint_torque)")


@dataclass(frozen=True)
class LearnerSettings(Validated):
    """How the nonparametric part learns. Raises ParameterError for a value outside its range."""

    nonparametric: str = setting(
        "random_features",
        "nonparametric learner: least squares on random or Nyström features, or POLK with its dictionary of motions",
        choices=NONPARAMETRIC,
    )
    n_random_features: int = setting(
        1000, "number of random features, even; nystrom: largest number of centres", low=2, high=10000
    )
    length_scale: float = setting(
        5.0, "length scale of the Gaussian kernel, on standardized inputs", low=1e-3, high=1e3
    )
    nonparametric_regularization: float = setting(
        0.003, "regularization of the nonparametric part", low=1e-12, high=1e12
    )
    forgetting: float = setting(
        1.0, "factor by which each new sample reduces the weight of earlier ones; 1 forgets nothing", low=0.5, high=1.0
    )
    n_warm_up: int = setting(200, "number of first samples that only set the scale of the inputs", low=1, high=100000)
    seed: int = setting(0, "seed of the random features", low=0, high=2**31 - 1)
    step_size: float = setting(
        0.5, "fraction by which learning a sample reduces its error (nonparametric: polk)", low=1e-6, high=1.0
    )
    parsimony: float = setting(
        0.01, "pruning of the dictionary; larger values keep fewer motions (nonparametric: polk)", low=0.0, high=1e3
    )
    max_dictionary: int = setting(300, "largest number of motions kept (nonparametric: polk)", low=1, high=5000)


@dataclass(frozen=True)
class EstimatorSettings(LearnerSettings):
    """The estimator and how it learns. Raises ParameterError for a value outside its range."""

    estimator: str = setting(
        "semiparametric", "rigid-body model with a nonparametric part, or one of the two alone", choices=ESTIMATORS
    )
    parametric_regularization: float = setting(
        10.0, "regularization of the rigid-body parameters", low=1e-12, high=1e12
    )
    prior: str = setting(
        "zero", "rigid-body parameters before the first sample: zero, or those of the URDF", choices=("zero", "nominal")
    )


@dataclass(frozen=True)
class StreamSettings(Validated):
    """How joint states and measurements are read. Raises ParameterError for a value outside its range."""

    derivative_window: int = setting(9, "number of joint states under the local polynomial", low=2, high=1000)
    derivative_order: int = setting(3, "order of the local polynomial", low=2, high=7)
    derivative_delay: int = setting(
        4, "number of joint states between the newest one and the one that is learned from", low=0, high=999
    )
    velocity_weight: float = setting(
        0.05,
        "standard deviation of measured positions divided by that of measured velocities; 0 uses positions alone",
        unit="s",
        low=0.0,
        high=100.0,
    )
    velocity_delay: float = setting(
        0.0, "time by which measured velocities lag behind the positions they come with", unit="s", low=0.0, high=1.0
    )
    max_gap: float = setting(
        1.0, "longest time between joint states before derivatives start anew", unit="s", low=1e-4, high=60.0
    )
    velocity_source: str = setting(
        "message",
        "whether joint states must carry velocities, or velocities are estimated from positions",
        choices=("message", "estimated"),
    )
    joint_order: str = setting(
        "configured",
        "whether the joints must come in the order of `joints`, or may come in any order",
        choices=("configured", "any"),
    )
    extra_joints: Sequence[str] = setting(
        (), "joints that messages may hold although the URDF lacks them, such as those of fingers"
    )
    stamp_source: str = setting(
        "header",
        "time of a message: its header, or its arrival where a driver sets no usable stamps",
        choices=("header", "arrival"),
    )
    tolerance: float = setting(
        0.0025, "largest difference between the stamps of a wrench and its joint state", unit="s", low=0.0, high=1.0
    )


@dataclass(frozen=True)
class Settings(StreamSettings, EstimatorSettings, RobotSettings):
    """All settings of learning inverse dynamics. Raises ParameterError for a value outside its range."""


DEFAULTS = Settings()
