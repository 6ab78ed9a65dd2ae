"""The documents say what the code does: parameters, topics, services, commands and links."""

import re

import pytest

from icub_learning.cli.main import COMMANDS
from icub_learning.nodes.cnn_features import parameters as cnn_features_parameters
from icub_learning.nodes.icub_simulation import node as icub_simulation
from icub_learning.nodes.inverse_dynamics import parameters as inverse_dynamics_parameters
from icub_learning.nodes.object_recognition import parameters as object_recognition_parameters

TABLES = {
    "inverse_dynamics": inverse_dynamics_parameters.PARAMETERS,
    "icub_simulation": icub_simulation.PARAMETERS,
    "cnn_features": cnn_features_parameters.PARAMETERS,
    "object_recognition": object_recognition_parameters.PARAMETERS,
}


def row(spec):
    """The line of docs/ros_interface.md for a parameter."""
    default = '`""`' if spec.default in ("", [""]) else f"`{str(spec.default).lower()}`"
    fixed = "start-up" if spec.read_only else "any time"
    return f"| `{spec.name}` | {default} | {spec.description} | {spec.bound().replace('|', '/')} | {fixed} |"


@pytest.mark.parametrize("node", TABLES)
def test_every_parameter_is_in_the_ros_interface(checkout, node):
    text = (checkout / "docs" / "ros_interface.md").read_text()
    rows = [row(spec) for spec in TABLES[node]]
    assert "\n".join(rows) in text, f"docs/ros_interface.md, parameters of {node}, must read:\n" + "\n".join(rows)


@pytest.mark.parametrize("module", ["inverse_dynamics", "icub_simulation", "cnn_features", "object_recognition"])
def test_every_topic_and_service_is_in_the_ros_interface(checkout, module):
    text = (checkout / "docs" / "ros_interface.md").read_text()
    source = (checkout / "icub_learning" / "nodes" / f"{module}.py").read_text()
    relative = "joint_states|wrench|joint_trajectory|image|image/compressed|features"
    names = set(re.findall(rf'"(~/[a-z_/]+|{relative}|/joint_states|/wrench|/clock|/diagnostics)"', source))
    assert len(names) >= 4
    assert not [name for name in names if f"`{name}`" not in text]


def test_every_command_is_in_the_readme(checkout):
    text = (checkout / "README.md").read_text()
    assert not [name for name in COMMANDS if f"icub-learning {name}" not in text]


def test_links_between_documents_lead_somewhere(checkout):
    for document in [checkout / "README.md", checkout / "CHANGELOG.md", *checkout.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text()):
            assert "://" in target or (document.parent / target).exists(), f"{document.name}: {target}"
