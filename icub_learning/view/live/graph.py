"""Finds the nodes that the page can show, by the types of their topics."""

from dataclasses import dataclass
from itertools import chain

from rclpy.node import Node

PREDICTION = "icub_learning_msgs/msg/DynamicsPrediction"
RECOGNITION = "icub_learning_msgs/msg/Recognition"
DETECTIONS = "icub_learning_msgs/msg/Detections"
FEATURES = "icub_learning_msgs/msg/FeatureVector"
JOINT_STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
IMAGE, COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"


@dataclass(frozen=True)
class Found:
    """The nodes that were found, by name, and the topics that they subscribe to."""

    learners: dict[str, tuple[str, str]]  # topic of joint states and of wrenches of each learner; "" for none
    recognizers: list[str]
    detectors: list[str]
    image: tuple[str, str]  # topic and type of the camera's images that they look at; "" for none


def look(node: Node, image: str = "") -> Found:
    """Return the nodes that run now; images come from the topic `image`, for "" from one that nodes subscribe to."""
    topics = {name: types[0] for name, types in node.get_topic_names_and_types() if types}

    def owners(kind: str, ending: str) -> list[str]:
        """Return the names of nodes that publish topics of a type below their own names."""
        found = [name for name, one in topics.items() if one == kind and name.endswith(ending)]
        return sorted(name.removesuffix(ending) for name in found if node.count_publishers(name))

    def first(owner: str, kind: str) -> str:
        return next(iter(_subscribed(node, owner, kind)), "")

    learners = {one: (first(one, JOINT_STATE), first(one, WRENCH)) for one in owners(PREDICTION, "/prediction")}
    recognizers, detectors = owners(RECOGNITION, "/recognition"), owners(DETECTIONS, "/detections")
    features = [name for name, kind in topics.items() if kind == FEATURES]
    publishers = [info for name in features for info in node.get_publishers_info_by_topic(name)]
    watchers = [*detectors, *(f"{one.node_namespace.rstrip('/')}/{one.node_name}" for one in publishers)]
    return Found(learners, recognizers, detectors, _image(node, topics, watchers, image))


def _subscribed(node: Node, owner: str, kind: str) -> list[str]:
    """Return the topics of a type that a node subscribes to."""
    namespace, _, name = owner.rpartition("/")
    try:
        found = node.get_subscriber_names_and_types_by_node(name, namespace or "/")
    except Exception:  # rclpy's NodeNameNonExistentError: it has left since
        return []
    return [topic for topic, types in found if kind in types]


def _image(node: Node, topics: dict[str, str], watchers: list[str], given: str) -> tuple[str, str]:
    if given:
        return given, topics.get(given, IMAGE)
    kinds = (IMAGE, COMPRESSED)
    watched = ((topic, kind) for one in watchers for kind in kinds for topic in _subscribed(node, one, kind))
    published = sorted((name, kind) for name, kind in topics.items() if kind in kinds)
    cameras = ((name, kind) for name, kind in published if not name.endswith("/annotated"))
    return next((one for one in chain(watched, cameras) if node.count_publishers(one[0])), ("", ""))
