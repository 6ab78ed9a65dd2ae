"""The parameters of the inverse dynamics node, each with its meaning, unit and range."""

from icub_learning.nodes import scheduling
from icub_learning.nodes.parameters import ParameterSpec
from icub_learning.nodes.spinning import AUTOSTART
from icub_learning.nodes.timing import LIMITS
from icub_learning.robots import KNOWN_ROBOTS

PARAMETERS = (
    AUTOSTART,
    ParameterSpec(
        "urdf",
        "icub",
        f"robot description: a path, XML text, package://PACKAGE/FILE, or a known robot ({', '.join(KNOWN_ROBOTS)})",
        read_only=True,
    ),
    ParameterSpec("joints", [""], "learned joints, in the order of all arrays", read_only=True),
    ParameterSpec(
        "output",
        "wrench",
        "what is learned: the wrench at a force/torque sensor, or the efforts of the joints",
        choices=("wrench", "joint_torque"),
        read_only=True,
    ),
    ParameterSpec(
        "sensor", "r_arm_ft_sensor", "fixed joint of the force/torque sensor (output: wrench)", read_only=True
    ),
    ParameterSpec(
        "wrench_direction",
        "parent_to_child",
        "whether the sensor shows what acts on the link after it, or the reaction to that (output: wrench)",
        choices=("parent_to_child", "child_to_parent"),
        read_only=True,
    ),
    ParameterSpec("friction", True, "learn Coulomb, viscous and offset columns (output: joint_torque)", read_only=True),
    ParameterSpec(
        "estimator",
        "semiparametric",
        "rigid bodies and random features, or one of them",
        choices=("semiparametric", "parametric", "nonparametric"),
        read_only=True,
    ),
    ParameterSpec(
        "nonparametric",
        "random_features",
        "how the nonparametric part learns: least squares on random or Nyström features, or POLK's set of motions",
        choices=("random_features", "nystrom", "polk"),
        read_only=True,
    ),
    ParameterSpec(
        "n_random_features", 1000, "random features, even; nystrom: most centres", low=2, high=10000, read_only=True
    ),
    ParameterSpec("length_scale", 5.0, "of the kernel, on standardized inputs", low=1e-3, high=1e3, read_only=True),
    ParameterSpec(
        "parametric_regularization", 10.0, "lambda of the rigid-body part", low=1e-12, high=1e12, read_only=True
    ),
    ParameterSpec(
        "nonparametric_regularization", 0.003, "lambda of the random features", low=1e-12, high=1e12, read_only=True
    ),
    ParameterSpec(
        "forgetting",
        1.0,
        "weight of a sample after each further one; 1: all stay",
        low=0.5,
        high=1.0,
        read_only=True,
    ),
    ParameterSpec(
        "prior",
        "zero",
        "rigid-body parameters before any sample: zero, or nominal from the URDF",
        choices=("zero", "nominal"),
        read_only=True,
    ),
    ParameterSpec(
        "n_warm_up",
        200,
        "samples that set the scale of the features' inputs",
        low=1,
        high=100000,
        read_only=True,
    ),
    ParameterSpec("seed", 0, "of the random features", low=0, high=2**31 - 1, read_only=True),
    ParameterSpec(
        "step_size",
        0.5,
        "part by which the error of a sample shrinks when it is learned (nonparametric: polk)",
        low=1e-6,
        high=1.0,
        read_only=True,
    ),
    ParameterSpec(
        "parsimony",
        0.01,
        "the larger, the fewer motions are kept (nonparametric: polk)",
        low=0.0,
        high=1e3,
        read_only=True,
    ),
    ParameterSpec("max_dictionary", 300, "most motions kept (nonparametric: polk)", low=1, high=5000, read_only=True),
    ParameterSpec(
        "learning_backlog",
        50,
        "samples that may wait to be learned; beyond, as many as can be are learned, evenly",
        low=1,
        high=100000,
        read_only=True,
    ),
    ParameterSpec("learning", True, "learn from the start; ~/set_learning switches it while the node runs"),
    ParameterSpec("derivative_window", 9, "samples under the local polynomial", low=2, high=1000, read_only=True),
    ParameterSpec("derivative_order", 3, "order of the local polynomial", low=2, high=7, read_only=True),
    ParameterSpec(
        "derivative_delay",
        4,
        "samples between the newest joint state and the one that is learned from",
        low=0,
        high=999,
        read_only=True,
    ),
    ParameterSpec(
        "velocity_weight",
        0.05,
        "s; deviation of measured positions over that of measured velocities; 0 uses positions alone",
        low=0.0,
        high=100.0,
        read_only=True,
    ),
    ParameterSpec(
        "velocity_delay",
        0.0,
        "s by which measured velocities are older than the positions they come with",
        low=0.0,
        high=1.0,
        read_only=True,
    ),
    ParameterSpec(
        "max_gap",
        1.0,
        "s between joint states after which derivatives start anew",
        low=1e-4,
        high=60.0,
        read_only=True,
    ),
    ParameterSpec(
        "velocity_source",
        "message",
        "whether joint states must carry velocities, or they are estimated from positions",
        choices=("message", "estimated"),
        read_only=True,
    ),
    ParameterSpec(
        "joint_order",
        "configured",
        "whether the learned joints must come in the order of `joints`, or may come in any",
        choices=("configured", "any"),
        read_only=True,
    ),
    ParameterSpec(
        "extra_joints",
        [""],
        "names that joint states may hold although the URDF lacks them, as those of fingers",
        read_only=True,
    ),
    ParameterSpec(
        "tolerance", 0.0025, "s; farthest stamps of a wrench and its joint state", low=0.0, high=1.0, read_only=True
    ),
    ParameterSpec(
        "stamp_source",
        "header",
        "time of a message: its header, or its arrival where a driver sets no usable stamps",
        choices=("header", "arrival"),
        read_only=True,
    ),
    ParameterSpec("frame_id", "", "frame of published wrenches; empty: the sensor's link in the URDF", read_only=True),
    ParameterSpec(
        "report_period",
        1.0,
        "s between ~/inertial_parameters, /diagnostics",
        low=0.05,
        high=60.0,
        read_only=True,
    ),
    *LIMITS,
    *scheduling.PARAMETERS,
)
