"""The parameters of every node, by its name."""

from icub_learning.nodes.cnn_features import parameters as cnn_features
from icub_learning.nodes.gazebo_controller import node as gazebo_controller
from icub_learning.nodes.gazebo_joint_states import node as gazebo_joint_states
from icub_learning.nodes.icub_simulation import node as icub_simulation
from icub_learning.nodes.inverse_dynamics import parameters as inverse_dynamics
from icub_learning.nodes.object_detection import parameters as object_detection
from icub_learning.nodes.object_recognition import parameters as object_recognition

PARAMETERS = {
    "inverse_dynamics": inverse_dynamics.PARAMETERS, "icub_simulation": icub_simulation.PARAMETERS,
    "gazebo_controller": gazebo_controller.PARAMETERS, "gazebo_joint_states": gazebo_joint_states.PARAMETERS,
    "cnn_features": cnn_features.PARAMETERS, "object_detection": object_detection.PARAMETERS,
    "object_recognition": object_recognition.PARAMETERS,
}  # fmt: skip
