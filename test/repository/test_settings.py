"""A setting is declared once: node, command line, docs and parameter files follow from its dataclass field."""

import argparse
import importlib
from dataclasses import make_dataclass

import pytest
import rclpy
from helpers.loading import module_at
from rclpy.node import Node

from icub_learning.cli.common.options import add_settings
from icub_learning.dynamics import settings as dynamics_settings
from icub_learning.errors import ParameterError
from icub_learning.nodes.common.parameters import declare
from icub_learning.nodes.inverse_dynamics import parameters
from icub_learning.settings import Validated, pick, setting


@pytest.fixture
def write_settings(checkout):
    return module_at(checkout / "tools" / "write_settings.py")


def test_docs_and_parameter_files_say_what_the_settings_say(write_settings):
    names = [path.name for path in write_settings.differences()]
    assert not names, f"run python tools/write_settings.py: {names}"


@pytest.fixture
def with_one_more(monkeypatch):
    """The settings of inverse dynamics with one more field, and the node's parameters made from them."""
    more = make_dataclass(
        "Settings", [("patience", float, setting(2.5, "time that the learner waits", unit="s", low=0.5, high=9.0))],
        bases=(dynamics_settings.Settings,), frozen=True,
    )  # fmt: skip
    monkeypatch.setattr(dynamics_settings, "Settings", more)
    yield more, importlib.reload(parameters)
    monkeypatch.undo()
    importlib.reload(parameters)


def test_a_new_field_appears_in_node_command_line_docs_and_parameter_files(with_one_more, write_settings, ros_domain):
    more, node_parameters = with_one_more
    rclpy.init()
    try:
        node = Node("one_more")
        declare(node, node_parameters.PARAMETERS)
        assert node.get_parameter("patience").value == 2.5
        described = node.describe_parameter("patience")
        assert described.description == "time that the learner waits [s]"
        assert described.floating_point_range[0].to_value == 9.0
        assert not node.set_parameters([rclpy.parameter.Parameter("patience", value=99.0)])[0].successful
        node.destroy_node()
    finally:
        rclpy.shutdown()
    parser = argparse.ArgumentParser()
    add_settings(parser, more, given=True)
    assert "time that the learner waits [s] (default: 2.5)" in " ".join(parser.format_help().split())
    given = vars(parser.parse_args(["--patience", "3"]))
    assert pick(more, {name: value for name, value in given.items() if value is not None}).patience == 3.0
    with pytest.raises(ParameterError, match=r"patience.*within \[0.5, 9\]"):
        more(patience=0.1)
    with pytest.raises(ParameterError, match=r"forgetting is .1\.0., .* as a number, not as text"):
        more(forgetting="1.0")
    row = "| `patience` | `2.5` | time that the learner waits [s] | within [0.5, 9] | unconfigured |"
    assert row in write_settings.table(node_parameters.PARAMETERS)
    text = "inverse_dynamics:\n  ros__parameters:\n    patience: 2.5\n"
    expected = "inverse_dynamics:\n  ros__parameters:\n    # time that the learner waits [s]\n    patience: 2.5\n"
    assert write_settings.described_parameter_file(text) == expected
    assert write_settings.described_parameter_file(expected) == expected


@pytest.mark.parametrize(("default", "limits", "good", "bad"), [
    (True, {}, False, 1), (2, {"low": 1, "high": 3}, 3, 2.5), (2, {"low": 1, "high": 3}, 1, 4),
    (2.0, {"low": 0.0}, 7, float("nan")), (2.0, {"low": 0.0}, 0.0, True), ("a", {"choices": ("a", "b")}, "b", "c"),
    ((), {}, ["x", "y"], "xy"), ((1.0,), {"high": 2.0}, (1.5, 2.0), (1.5, 2.5)),
])  # fmt: skip
def test_values_are_checked_against_type_and_range(default, limits, good, bad):
    field = ("value", type(default), setting(default, "a value", **limits))
    group = make_dataclass("Group", [field], bases=(Validated,))
    assert group(value=good).value == good
    with pytest.raises(ParameterError, match="value"):
        group(value=bad)


def test_descriptions_are_phrases_with_units_apart(write_settings):
    for node in write_settings.NODES:
        for declared in write_settings.parameters(node):
            assert not declared.description.startswith(("of ", "s ", "s;", "Hz ")), declared.name
            assert not declared.description.endswith("."), declared.name
