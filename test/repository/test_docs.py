"""The documents say what the code does: parameters, topics, services, commands and links."""

import re

import pytest

from icub_learning.cli.main import COMMANDS


@pytest.mark.parametrize("module", ["inverse_dynamics", "icub_simulation", "cnn_features", "object_recognition"])
def test_every_topic_and_service_is_in_the_ros_interface(checkout, module):
    text = (checkout / "docs" / "ros_interface.md").read_text()
    source = (checkout / "icub_learning" / "nodes" / module / "node.py").read_text()
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
