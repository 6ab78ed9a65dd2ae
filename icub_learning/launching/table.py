"""The table of systems that are started together: processes, their arguments, parameters and topics.

Texts are templates: {name} stands for the launch argument `name`, {share} for the folder with config/ and urdf/, and
{gazebo_world}, {gazebo_resources} for what icub_learning.simulation.gazebo_world makes at launch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

PACKAGE = "icub_learning"


class AtEnd(Enum):
    """What happens when a process ends by itself."""

    FAIL = "it should not end: stop all processes, as a failure"
    STOP = "the system's work is done: stop all processes; a failure if its exit code is not 0"
    CONTINUE = "the other processes go on; a failure if its exit code is not 0"


@dataclass(frozen=True)
class Argument:
    """A launch argument."""

    name: str  # as in name:=value
    description: str  # meaning and unit
    default: str | None = None  # template, which may refer to arguments before it; None: must be given
    choices: tuple[str, ...] = ()  # the only values accepted, or () for any


@dataclass(frozen=True)
class Process:
    """A process; every text but the names and `at_end` is a template."""

    name: str  # name in the output; for a node, also its ROS name
    executable: str  # file in the package's folder of executables; without a package, a program on the PATH
    package: str = PACKAGE  # ROS package of the executable, or ""
    arguments: tuple[str, ...] = ()  # arguments without those of ROS
    is_node: bool = True  # whether it takes arguments of ROS
    parameter_files: tuple[str, ...] = ()  # YAML files; later ones override earlier ones
    # override those of the files; values in YAML
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # from a topic in the code to a topic of this system
    remappings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # variables that are set in addition
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    at_end: AtEnd = AtEnd.FAIL  # what happens when it ends
    installation: str = ""  # how to install it, for a process of somebody else's


@dataclass(frozen=True)
class System:
    """Processes that are started together."""

    name: str
    launch_file: str
    description: str
    arguments: tuple[Argument, ...]
    processes: tuple[Process, ...]


LOG_LEVEL = Argument("log_level", "log level of all nodes", "info", choices=("debug", "info", "warn", "error", "fatal"))
ROBOT = Argument(
    "robot", "name of a file in config/, without .yaml: icub_right_arm, icub_left_arm, ur10, panda", "icub_right_arm"
)
ROBOT_CONFIG = Argument("config", "parameter file of inverse_dynamics", "{share}/config/{robot}.yaml")
JOINT_STATES = Argument("joint_states", "topic of the robot's sensor_msgs/JointState", "/joint_states")
WRENCH = Argument("wrench", "topic of the sensor's geometry_msgs/WrenchStamped (output: wrench)", "/wrench")


def _sim_time(default: str) -> Argument:
    return Argument("use_sim_time", "whether time comes from /clock", default, choices=("true", "false"))


def _inverse_dynamics(parameters: Mapping[str, str], remappings: Mapping[str, str]) -> Process:
    return Process(
        "inverse_dynamics",
        "inverse_dynamics_node",
        parameter_files=("{config}",),
        parameters=parameters,
        remappings=remappings,
    )


_TOPICS = {"joint_states": "{joint_states}", "wrench": "{wrench}"}

SIMULATION = System(
    "simulation",
    "mujoco_simulation.launch.py",
    "a simulated iCub arm (MuJoCo), and the node that learns its inverse dynamics",
    (
        Argument("config", "parameter file of icub_simulation and inverse_dynamics", "{share}/config/simulation.yaml"),
        _sim_time("true"),
        LOG_LEVEL,
    ),
    (
        Process("icub_simulation", "icub_simulation_node", parameter_files=("{config}",)),
        _inverse_dynamics({"use_sim_time": "{use_sim_time}"}, {}),
    ),
)

ROS_GZ = (
    "install it with `sudo apt-get install ros-kilted-ros-gz` (Gazebo Ionic; ros-jazzy-ros-gz: Harmonic) and source "
    "/opt/ros/kilted/setup.bash"
)
GAZEBO = System(
    "gazebo",
    "gazebo.launch.py",
    "a robot in Gazebo behind ros_gz, and the node that learns its inverse dynamics",
    (
        Argument("robot", "which robot", "icub_right_arm", choices=("icub_right_arm", "icub_left_arm", "panda")),
        Argument(
            "config",
            "parameter file of inverse_dynamics; its joints move in Gazebo, its sensor is put there",
            "{gazebo_config}",
        ),
        Argument("bridge", "topics between Gazebo and ROS (ros_gz_bridge)", "{share}/config/gazebo_bridge.yaml"),
        Argument("world", "SDF file of the world that the robot is put into", "{share}/urdf/icub_learning_world.sdf"),
        Argument("gz_args", "one option of `gz sim`: -r runs at once, -rs without a window as well", "-r"),
        _sim_time("true"),
        LOG_LEVEL,
    ),
    (
        Process(
            "gazebo",
            "gz",
            package="",
            arguments=("sim", "{gz_args}", "{gazebo_world}"),
            is_node=False,
            environment={"GZ_SIM_RESOURCE_PATH": "{gazebo_resources}"},
            installation=ROS_GZ,
        ),
        Process(
            "ros_gz_bridge",
            "parameter_bridge",
            package="ros_gz_bridge",
            parameters={"config_file": "{bridge}"},
            installation=ROS_GZ,
        ),
        Process("gazebo_joint_states", "gazebo_joint_states_node"),
        Process("gazebo_controller", "gazebo_controller_node", parameters={"config": "{config}"}),
        _inverse_dynamics({"use_sim_time": "{use_sim_time}"}, {}),
    ),
)


def _arm(side: str) -> Process:
    return Process(
        f"{side}_arm_dynamics",
        "inverse_dynamics_node",
        parameter_files=("{config}",),
        parameters={"use_sim_time": "{use_sim_time}"},
        remappings={"joint_states": f"{{{side}_joint_states}}", "wrench": f"{{{side}_wrench}}"},
    )


REAL_ICUB = System(
    "icub",
    "icub_robot.launch.py",
    "the nodes that learn the inverse dynamics of both arms of a real iCub from its topics",
    (
        Argument(
            "config", "parameter file of right_arm_dynamics and left_arm_dynamics", "{share}/config/icub_arms.yaml"
        ),
        Argument("right_joint_states", "topic of the right arm's sensor_msgs/JointState", "/right_arm/joint_states"),
        Argument("right_wrench", "topic of the right arm's geometry_msgs/WrenchStamped", "/right_arm/wrench"),
        Argument("left_joint_states", "topic of the left arm's sensor_msgs/JointState", "/left_arm/joint_states"),
        Argument("left_wrench", "topic of the left arm's geometry_msgs/WrenchStamped", "/left_arm/wrench"),
        _sim_time("false"),
        LOG_LEVEL,
    ),
    (_arm("right"), _arm("left")),
)

REAL_ROBOT = System(
    "robot",
    "robot.launch.py",
    "the node that learns the inverse dynamics of a real robot from its topics",
    (ROBOT, ROBOT_CONFIG, JOINT_STATES, WRENCH, _sim_time("false"), LOG_LEVEL),
    (_inverse_dynamics({"use_sim_time": "{use_sim_time}"}, _TOPICS),),
)

RECORDING = System(
    "recording",
    "recording.launch.py",
    "a recording, played back once, and the node that learns inverse dynamics from it",
    (
        Argument("recording", "rosbag2 folder, .db3, .mcap, .csv or .npz"),
        ROBOT,
        ROBOT_CONFIG,
        Argument("rate", "times as fast as recorded", "1.0"),
        Argument(
            "stamp_source",
            "time of a message: its recorded header, or its arrival where the robot's driver set no usable stamps",
            "header",
            choices=("header", "arrival"),
        ),
        Argument("joint_states", "topic to play joint states on", "/joint_states"),
        Argument("wrench", "topic to play wrenches on", "/wrench"),
        LOG_LEVEL,
    ),
    (
        _inverse_dynamics({"stamp_source": "{stamp_source}"}, _TOPICS),
        Process(
            "player",
            "icub-learning",
            arguments=(
                "replay",
                "{recording}",
                "--rate",
                "{rate}",
                "--joint-states",
                "{joint_states}",
                "--wrench",
                "{wrench}",
            ),
            is_node=False,
            at_end=AtEnd.STOP,
        ),
    ),
)

RECOGNITION_CONFIG = Argument(
    "config", "parameter file of cnn_features and object_recognition", "{share}/config/recognition.yaml"
)


def _recognition(remappings: Mapping[str, str]) -> tuple[Process, ...]:
    parameters = {"use_sim_time": "{use_sim_time}"}
    return (
        Process(
            "cnn_features",
            "cnn_features_node",
            parameter_files=("{config}",),
            parameters=parameters,
            remappings=remappings,
        ),
        Process("object_recognition", "object_recognition_node", parameter_files=("{config}",), parameters=parameters),
    )


RECOGNITION = System(
    "recognition",
    "recognition.launch.py",
    "the nodes that recognize the objects in a camera's images and are taught new ones",
    (
        RECOGNITION_CONFIG,
        Argument("image", "topic of the camera's sensor_msgs/Image, with /compressed behind it of its CompressedImage",
                 "/image"),
        _sim_time("false"),
        LOG_LEVEL,
    ),
    _recognition({"image": "{image}", "image/compressed": "{image}/compressed"}),
)  # fmt: skip

OBJECTS = System(
    "objects",
    "object_simulation.launch.py",
    "a simulated iCub that is shown objects, and the nodes that recognize them and are taught new ones",
    (RECOGNITION_CONFIG, _sim_time("true"), LOG_LEVEL),
    (Process("icub_simulation", "icub_simulation_node", parameter_files=("{config}",)), *_recognition({})),
)

DETECTION = System(
    "detection",
    "detection.launch.py",
    "the node that finds objects in a camera's images and is taught new ones",
    (
        Argument("config", "parameter file of object_detection", "{share}/config/detection.yaml"),
        Argument(
            "image",
            "topic of the camera's sensor_msgs/Image, with /compressed behind it of its CompressedImage",
            "/image",
        ),
        Argument("boxes", "topic of icub_learning_msgs/Detections with boxes to learn from (source: boxes)", "/boxes"),
        _sim_time("false"),
        LOG_LEVEL,
    ),
    (
        Process(
            "object_detection",
            "object_detection_node",
            parameter_files=("{config}",),
            parameters={"use_sim_time": "{use_sim_time}"},
            remappings={"image": "{image}", "image/compressed": "{image}/compressed", "boxes": "{boxes}"},
        ),
    ),
)

SYSTEMS = {
    system.name: system
    for system in (SIMULATION, GAZEBO, REAL_ROBOT, REAL_ICUB, RECORDING, RECOGNITION, OBJECTS, DETECTION)
}
