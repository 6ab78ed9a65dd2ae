"""The table of systems that are started together: processes, their arguments, parameters and topics.

Texts are templates: {name} stands for the launch argument `name`, {share} for the folder with config/ and urdf/, and
{gazebo_world}, {gazebo_resources} for what icub_learning.simulation.gazebo_model makes at launch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

PACKAGE = "icub_learning"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Argument:
    """A launch argument."""

    name: str  # name in name:=value
    description: str  # meaning and unit
    default: str | None = None  # template, which may refer to arguments before it; None: the user must give a value
    choices: tuple[str, ...] = ()  # the only values accepted, or () for any
    kind: str = ""  # "topic": its name; "factor": a number above 0; "": any text


@dataclass(frozen=True)
class Process:
    """A process; every text but the names is a template."""

    name: str  # name in the output; for a node, also its ROS name
    executable: str  # file in the package's folder of executables; without a package, a program on the PATH
    package: str = PACKAGE  # ROS package of the executable, or ""
    arguments: tuple[str, ...] = ()  # command-line arguments, without those for ROS
    is_node: bool = True  # whether it takes ROS arguments
    parameter_files: tuple[str, ...] = ()  # YAML files; later ones override earlier ones
    parameters: Mapping[str, str] = field(default_factory=dict)  # ROS parameters, which override the files; YAML values
    remappings: Mapping[str, str] = field(default_factory=dict)  # topics of this system by their names in the code
    environment: Mapping[str, str] = field(default_factory=dict)  # additional environment variables
    finishes: bool = False  # whether the system's work is done when it ends with exit code 0; else its end is a failure
    installation: str = ""  # how to install it, for a third-party program


@dataclass(frozen=True)
class System:
    """Processes that are started together."""

    name: str
    launch_file: str
    description: str
    arguments: tuple[Argument, ...]
    processes: tuple[Process, ...]


LOG_LEVEL = Argument("log_level", "log level of all nodes", "info", choices=("debug", "info", "warn", "error", "fatal"))
ROBOTS = "icub_right_arm, icub_left_arm, ur10, panda"
ROBOT = Argument("robot", f"name of a file in config/, without .yaml: {ROBOTS}", "icub_right_arm")


def _config(nodes: str, file: str) -> Argument:
    return Argument("config", f"parameter file of {nodes}", f"{{share}}/config/{file}.yaml")


def _sim_time(default: str) -> Argument:
    return Argument("use_sim_time", "whether time comes from /clock", default, choices=("true", "false"))


_SIM_TIME = {"use_sim_time": "{use_sim_time}"}
_TOPICS = {"joint_states": "{joint_states}", "wrench": "{wrench}"}
_IMAGES = {"image": "{image}", "image/compressed": "{image}/compressed"}


def _node(
    kind: str, remappings: Mapping[str, str] = NOTHING, parameters: Mapping[str, str] = _SIM_TIME, name: str = "",
    shipped: str = "",
) -> Process:  # fmt: skip
    """Return a node; `shipped` names the file in config/ that the user's one need not repeat."""
    files = (*([f"{{share}}/config/{shipped}.yaml"] if shipped else []), "{config}")
    return Process(name or kind, f"{kind}_node", PACKAGE, (), True, files, parameters, remappings)


ROBOT_CONFIG = _config("inverse_dynamics", "{robot}")
SIMULATION = System(
    "simulation", "mujoco_simulation.launch.py",
    "a simulated iCub arm (MuJoCo), and the node that learns its inverse dynamics",
    (_config("icub_simulation and inverse_dynamics", "simulation"), _sim_time("true"), LOG_LEVEL),
    (_node("icub_simulation", parameters=NOTHING), _node("inverse_dynamics")),
)  # fmt: skip

ROS_GZ = "install it with `sudo apt-get install ros-kilted-ros-gz` (Gazebo Ionic; ros-jazzy-ros-gz: Harmonic) and "
ROS_GZ += "source /opt/ros/kilted/setup.bash"
GAZEBO_CONFIG = "parameter file of inverse_dynamics; its joints move in Gazebo, its sensor is put there"
GAZEBO = System(
    "gazebo", "gazebo.launch.py",
    "a robot in Gazebo behind ros_gz, and the node that learns its inverse dynamics",
    (
        Argument("robot", "which robot", "icub_right_arm", choices=("icub_right_arm", "icub_left_arm", "panda")),
        Argument("config", GAZEBO_CONFIG, "{gazebo_config}"),
        Argument("bridge", "topics between Gazebo and ROS (ros_gz_bridge)", "{share}/config/gazebo_bridge.yaml"),
        Argument("world", "SDF file of the world that the robot is put into", "{share}/urdf/icub_learning_world.sdf"),
        Argument("gz_args", "one option of `gz sim`: -r runs at once, -rs without a window as well", "-r"),
        _sim_time("true"), LOG_LEVEL,
    ),
    (
        Process(
            "gazebo", "gz", "", ("sim", "{gz_args}", "{gazebo_world}"), is_node=False,
            environment={"GZ_SIM_RESOURCE_PATH": "{gazebo_resources}"}, installation=ROS_GZ,
        ),
        Process(
            "ros_gz_bridge", "parameter_bridge", "ros_gz_bridge",
            parameters={"config_file": "{bridge}"}, installation=ROS_GZ,
        ),
        Process("gazebo_joint_states", "gazebo_joint_states_node"),
        Process("gazebo_controller", "gazebo_controller_node", parameters={"config": "{config}"}),
        _node("inverse_dynamics"),
    ),
)  # fmt: skip


ARMS = ("right", "left")
KINDS = {"joint_states": "sensor_msgs/JointState", "wrench": "geometry_msgs/WrenchStamped"}
REAL_ICUB = System(
    "icub", "icub_robot.launch.py",
    "the nodes that learn the inverse dynamics of both arms of a real iCub from its topics",
    (
        _config("right_arm_dynamics and left_arm_dynamics", "icub_arms"),
        *(
            Argument(f"{arm}_{topic}", f"topic of the {arm} arm's {kind}", f"/{arm}_arm/{topic}", kind="topic")
            for arm in ARMS for topic, kind in KINDS.items()
        ),
        _sim_time("false"), LOG_LEVEL,
    ),
    tuple(
        _node("inverse_dynamics", {topic: f"{{{arm}_{topic}}}" for topic in KINDS}, name=f"{arm}_arm_dynamics")
        for arm in ARMS
    ),
)  # fmt: skip

WRENCH = "topic of the sensor's geometry_msgs/WrenchStamped (output: wrench)"
REAL_ROBOT = System(
    "robot", "robot.launch.py",
    "the node that learns the inverse dynamics of a real robot from its topics",
    (
        ROBOT, ROBOT_CONFIG,
        Argument("joint_states", "topic of the robot's sensor_msgs/JointState", "/joint_states", kind="topic"),
        Argument("wrench", WRENCH, "/wrench", kind="topic"), _sim_time("false"), LOG_LEVEL,
    ),
    (_node("inverse_dynamics", _TOPICS),),
)  # fmt: skip

REPLAY = "replay {recording} --rate {rate} --joint-states {joint_states} --wrench {wrench}"
REPLAY += " --joint-state-topic={joint_state_topic} --wrench-topic={wrench_topic}"
STAMP_SOURCE = "time of a message: its recorded header, or its arrival where the robot's driver set no usable stamps"
RECORDING = System(
    "recording", "recording.launch.py",
    "a recording, played back once, and the node that learns inverse dynamics from it",
    (
        Argument("recording", "rosbag2 folder, .db3, .mcap, .csv or .npz"), ROBOT, ROBOT_CONFIG,
        Argument("rate", "times as fast as recorded", "1.0", kind="factor"),
        Argument("stamp_source", STAMP_SOURCE, "header", choices=("header", "arrival")),
        Argument("joint_states", "topic to play joint states on", "/joint_states", kind="topic"),
        Argument("wrench", "topic to play wrenches on", "/wrench", kind="topic"),
        Argument("joint_state_topic", "topic of joint states in the recording, if it has several", ""),
        Argument("wrench_topic", "topic of wrenches in the recording, if it has several", ""), LOG_LEVEL,
    ),
    (
        _node("inverse_dynamics", _TOPICS, {"stamp_source": "{stamp_source}"}),
        Process("player", "icub-learning", arguments=tuple(REPLAY.split()), is_node=False, finishes=True),
    ),
)  # fmt: skip

RECOGNITION_CONFIG = _config("cnn_features and object_recognition, which need not repeat the default", "recognition")
CAMERA = "topic of the camera's sensor_msgs/Image, with /compressed behind it of its CompressedImage"
IMAGE = Argument("image", CAMERA, "/image", kind="topic")
RECOGNITION = System(
    "recognition", "recognition.launch.py",
    "the nodes that recognize the objects in a camera's images and are taught new ones",
    (RECOGNITION_CONFIG, IMAGE, _sim_time("false"), LOG_LEVEL),
    (_node("cnn_features", _IMAGES, shipped="recognition"), _node("object_recognition", shipped="recognition")),
)  # fmt: skip

OBJECTS = System(
    "objects", "object_simulation.launch.py",
    "a simulated iCub that is shown objects, and the nodes that recognize them and are taught new ones",
    (RECOGNITION_CONFIG, _sim_time("true"), LOG_LEVEL),
    (
        _node("icub_simulation", parameters=NOTHING, shipped="recognition"),
        *(_node(kind, shipped="recognition") for kind in ("cnn_features", "object_recognition")),
    ),
)  # fmt: skip

BOXES = "topic of icub_learning_msgs/Detections with boxes to learn from (source: boxes)"
DETECTION = System(
    "detection", "detection.launch.py",
    "the node that finds objects in a camera's images and is taught new ones",
    (
        _config("object_detection, which need not repeat the default", "detection"), IMAGE,
        Argument("boxes", BOXES, "/boxes", kind="topic"), _sim_time("false"), LOG_LEVEL,
    ),
    (_node("object_detection", {**_IMAGES, "boxes": "{boxes}"}, shipped="detection"),),
)  # fmt: skip

_ALL = (SIMULATION, GAZEBO, REAL_ROBOT, REAL_ICUB, RECORDING, RECOGNITION, OBJECTS, DETECTION)
SYSTEMS = {system.name: system for system in _ALL}
