"""The parameters of every node, by its name."""

from importlib import import_module

NODES = (
    "inverse_dynamics", "icub_simulation", "gazebo_controller", "gazebo_joint_states", "cnn_features",
    "object_detection", "object_recognition",
)  # fmt: skip
PARAMETERS = {name: import_module(f"icub_learning.nodes.{name}.node").PARAMETERS for name in NODES}
