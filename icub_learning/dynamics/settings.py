"""The settings of learning inverse dynamics, shared by Python classes, node and command line."""

from collections.abc import Sequence
from dataclasses import dataclass

from icub_learning.arrays import real
from icub_learning.errors import ParameterError
from icub_learning.robots import KNOWN_ROBOTS
from icub_learning.settings import Validated, setting

AUTOMATIC = "auto"
ESTIMATORS = ("semiparametric", "parametric", "nonparametric")
LEARNER = ("predict", "update", "state", "from_state")  # methods of a user's class in place of these


@dataclass(frozen=True)
class Settings(Validated):
    """All settings of learning inverse dynamics. Raises ParameterError for a value outside its range."""

    # What is learned, and from which robot.
    urdf: str = setting(
        "icub", f"robot description: path, XML text, package://PACKAGE/FILE, a known robot ({', '.join(KNOWN_ROBOTS)})"
        ", or in a node topic: what robot_state_publisher keeps on robot_description",
    )  # fmt: skip
    joints: Sequence[str] = setting((), "joints to learn from, in the order of all arrays")
    output: str = setting(
        "wrench", "what is learned: the wrench at a force/torque sensor, or the efforts of the joints",
        choices=("wrench", "joint_torque"),
    )  # fmt: skip
    sensor: str = setting("r_arm_ft_sensor", "fixed joint of the force/torque sensor (output: wrench)")
    wrench_direction: str = setting(
        "parent_to_child", "whether the sensor measures the wrench on its child link, or the reaction (output: wrench)",
        choices=("parent_to_child", "child_to_parent"),
    )  # fmt: skip
    friction: bool = setting(True, "learn friction, rotor inertia and offset of each drive (output: joint_torque)")
    sensor_offset: bool = setting(True, "learn the constant offset of the force/torque sensor (output: wrench)")
    sensor_gain: bool = setting(False, "learn the errors of the sensor's gain matrix, to calibrate it (output: wrench)")
    # How features learn, and how fast all is forgotten.
    n_random_features: int = setting(
        560, "number of random features, even; rounded down to a multiple of 6, at least 6", low=2, high=10000,
        check=lambda n: "even" if n % 2 else None,
    )  # fmt: skip
    forgetting: float | str = setting(
        AUTOMATIC,
        "factor by which each new sample reduces the weight of earlier ones; 1 forgets nothing; auto: only after a"
        " change that the errors show",
        choices=(AUTOMATIC,), or_number=True, low=0.5, high=1.0,
    )  # fmt: skip
    seed: int = setting(0, "seed of the random features", low=0, high=2**31 - 1)
    # The estimator and how it learns.
    estimator: str = setting(
        "semiparametric", "rigid-body model with a nonparametric part, one of the two alone, or a learner of your own",
        choices=ESTIMATORS, methods=LEARNER,
    )  # fmt: skip
    parametric_regularization: float = setting(10.0, "regularization of rigid-body parameters", low=1e-12, high=1e12)
    prior: str = setting(
        "zero", "rigid-body parameters before the first sample: zero, or those of the URDF", choices=("zero", "nominal")
    )
    output_weights: str = setting(
        "noise", "how much outputs count for the parameters: by their noise, or all alike", choices=("noise", "equal")
    )
    offset_forgetting: float = setting(
        1.0, "factor by which each sample fades what is known of drifting offsets; 1: constant", low=0.5, high=1.0
    )
    # How joint states and measurements are read.
    velocity_delay: float = setting(
        -1.0, "time by which velocities lag behind their positions; negative: estimated", unit="s", low=-1.0, high=1.0
    )
    max_gap: float = setting(
        1.0, "longest time between joint states before the motion filter starts anew", unit="s", low=1e-4, high=60.0
    )
    velocity_source: str = setting(
        "auto", "auto: measured velocities are used where there are some; message: there must be; estimated: ignored",
        choices=("auto", "message", "estimated"),
    )  # fmt: skip
    joint_order: str = setting(
        "configured", "whether joints come in the order of `joints`, or in any order", choices=("configured", "any")
    )
    extra_joints: Sequence[str] = setting((), "joints that messages may hold, but the URDF lacks, such as fingers")
    stamp_source: str = setting(
        "header", "time of a message: its header, or its arrival if stamps are unusable", choices=("header", "arrival")
    )
    tolerance: float = setting(
        0.0025, "largest difference between the stamps of a wrench and its joint state", unit="s", low=0.0, high=1.0
    )
    # How loads and contacts are found.
    watch: str = setting(
        "wrench", "find loads and contacts, and learn the body from neither: where a wrench is learned, always or never"
        "; where it does not watch (joint torques, by default), pushes are learned as part of the body",
        choices=("wrench", "always", "never"),
    )  # fmt: skip
    load_link: str = setting(
        "", "link of the URDF that carries loads; empty: the one moved by the joint with most of the others before it"
        " (the last such one), or that a force/torque sensor beyond them carries; learn all joints before it that move",
    )  # fmt: skip
    contact_false_alarms: float = setting(
        0.1, "false contacts in an hour, at most, as far as usual errors tell", unit="1/h", low=1e-6, high=1e3
    )
    longest_contact: float = setting(
        10.0, "time after which what lasts is taken for a change of the body itself", unit="s", low=0.5, high=3600.0
    )


DEFAULTS = Settings()


def first_forgetting(forgetting: float | str) -> float:
    """Return the factor before any change: the number given, or 1 for "auto". Raises ParameterError."""
    if isinstance(forgetting, str):
        if forgetting != AUTOMATIC:
            raise ParameterError("forgetting", forgetting, f"a number in (0, 1], or {AUTOMATIC!r}")
        return 1.0
    return real("forgetting", forgetting, 0.0, 1.0, low_open=True)
