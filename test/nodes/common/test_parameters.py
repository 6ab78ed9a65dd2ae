"""Parameters declared from a table: ranges, reasons, start-up values, changes."""

import os
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.parameter import Parameter

from icub_learning.errors import ParameterError
from icub_learning.nodes.common.parameters import declare, values
from icub_learning.settings import Setting


def divisor(value):
    return "a divisor of 1000" if 1000 % value else None


SETTINGS = [
    Setting("rate", 200.0, "messages a second", low=1.0, high=1000.0, live=True, check=divisor),
    Setting("size", 3, "entries", low=1),
    Setting("side", "right", "which arm", choices=("right", "left")),
    Setting("joints", (), "names"),
    Setting("gains", (1.0,), "one a joint", low=0.0),
]


@pytest.fixture
def make_node(monkeypatch: pytest.MonkeyPatch) -> Iterator:
    monkeypatch.setitem(os.environ, "ROS_DOMAIN_ID", "171")
    monkeypatch.setitem(os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    context = rclpy.Context()
    context.init()
    nodes = []

    def make(**overrides):
        given = [Parameter(name, value=value) for name, value in overrides.items()]
        nodes.append(rclpy.create_node("parameters_test", context=context, parameter_overrides=given))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.shutdown()


def test_defaults_and_descriptions(make_node) -> None:
    node = make_node()
    declare(node, SETTINGS)
    assert values(node, SETTINGS) == {"rate": 200.0, "size": 3, "side": "right", "joints": [], "gains": [1.0]}
    descriptor = node.describe_parameter("rate")
    assert descriptor.description == "messages a second"
    assert descriptor.floating_point_range[0].to_value == 1000.0


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("rate", 3.0, "a divisor of 1000"), ("rate", 0.5, "within [1, 1000]"),
        ("rate", float("nan"), "within [1, 1000]"), ("rate", 200, "a float"), ("size", 0, "at least 1"),
        ("side", "up", "one of right, left"), ("gains", [1.0, -1.0], "at least 0"),
    ],
)  # fmt: skip
def test_bad_start_up_value_is_named(make_node, name: str, value: object, part: str) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        declare(make_node(**{name: value}), SETTINGS)
    assert caught.value.name == name
    assert part in str(caught.value)


def test_changes_are_guarded_and_reported(make_node) -> None:
    seen = []

    def on_change(name: str, value: object) -> None:
        if value == 500.0:
            raise ParameterError(name, value, "possible now")
        seen.append((name, value))

    node, configured = make_node(), []
    declare(node, SETTINGS, on_change, lambda: bool(configured))
    node.set_parameters([Parameter("rate", value=10.0)])
    assert seen == []
    configured.append(True)
    for value, accepted in [(3.0, False), (float("nan"), False), (500.0, False), (100.0, True)]:
        [result] = node.set_parameters([Parameter("rate", value=value)])
        assert result.successful == accepted
        assert accepted or "rate" in result.reason
    assert seen == [("rate", 100.0)]
    assert node.get_parameter("rate").value == 100.0
