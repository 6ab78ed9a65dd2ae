"""The documents say what the code does: parameters, topics, services, commands and links."""

import re

import pytest
import yaml

NODES = ["inverse_dynamics", "icub_simulation", "cnn_features", "object_recognition", "object_detection"]


@pytest.mark.parametrize("module", NODES)
def test_every_topic_and_service_is_in_the_ros_interface(checkout, module):
    text = (checkout / "docs" / "ros_interface.md").read_text()
    nodes = checkout / "icub_learning" / "nodes"
    source = (nodes / module / "node.py").read_text()
    for shared in re.findall(r"nodes\.common\.(\w+) import", source):  # which makes topics for several nodes
        source += (nodes / "common" / f"{shared}.py").read_text()
    relative = "joint_states|wrench|joint_trajectory|image|image/compressed|features|boxes"
    names = set(re.findall(rf'"(~/[a-z_/]+|{relative}|/joint_states|/wrench|/clock|/diagnostics)"', source))
    assert len(names) >= 4
    assert not [name for name in names if f"`{name}`" not in text]


def test_links_between_documents_lead_somewhere(checkout):
    for document in [*checkout.glob("*.md"), *checkout.glob("docs/**/*.md"), *checkout.glob("examples/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text()):
            assert "://" in target or (document.parent / target).exists(), f"{document.name}: {target}"


def test_places_that_contributing_names_exist(checkout):
    text = (checkout / "CONTRIBUTING.md").read_text()
    names = set(re.findall(r"`([\w./-]+/[\w./-]*\w)/?`", text)) - {"shared/data"}  # beside the checkout
    names |= set(re.findall(r"`(\w+\.(?:py|md|xml))`", text))
    assert len(names) >= 20
    assert not [
        name for name in names if not any((root / name).exists() for root in (checkout, checkout / "icub_learning"))
    ]


def test_hooks_of_pre_commit_use_the_tools_of_the_lock(checkout):
    config = yaml.safe_load((checkout / ".pre-commit-config.yaml").read_text())
    locked = (checkout / "requirements-dev.lock").read_text()
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        tool = re.fullmatch(r"\.venv/bin/python -m (\w+).*", hook["entry"]).group(1)
        assert f"\n{tool}==" in locked
