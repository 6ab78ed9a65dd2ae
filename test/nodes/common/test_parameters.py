"""Parameters declared from a table: ranges, reasons, start-up values, changes."""

import numpy as np
import pytest
import rclpy
from rclpy.parameter import Parameter

from icub_learning.errors import ParameterError
from icub_learning.nodes.common.parameters import declare, descriptor, hint, values
from icub_learning.settings import Setting

SETTINGS = [
    Setting("rate", 200.0, "messages a second", low=1.0, high=1000.0, live=True,
            check=lambda value: "a divisor of 1000" if 1000 % value else None),
    Setting("size", 3, "entries", low=1), Setting("side", "right", "which arm", choices=("right", "left")),
    Setting("joints", (), "names"), Setting("gains", (1.0,), "one a joint", low=0.0),
]  # fmt: skip


@pytest.fixture
def make_node(ros_domain):
    """Make a node with parameters given at start-up, and declare SETTINGS on it; `guards` go to `declare`."""
    rclpy.init()
    nodes = []

    def make(*guards, **overrides):
        given = [Parameter(name, value=value) for name, value in overrides.items()]
        nodes.append(rclpy.create_node("parameters_test", parameter_overrides=given))
        declare(nodes[-1], SETTINGS, *guards)
        return nodes[-1]

    yield make
    while nodes:
        nodes.pop().destroy_node()
    rclpy.shutdown()


def test_defaults_meaning_and_range_are_those_of_the_settings(make_node):
    assert str(values(make_node(rate=100), SETTINGS)["rate"]) == "100.0"
    assert hint(make_node(rate=100), SETTINGS) == "" and "came for /parameters_test:" in hint(make_node(), SETTINGS)
    assert values(make_node(), SETTINGS) == {"rate": 200.0, "size": 3, "side": "right", "joints": [], "gains": [1.0]}
    more = Setting("share", 0.5, "any"), Setting("most", 1.0, "all", "m", high=2.5), Setting("few", 3, "all", high=4)
    described = {one.name: descriptor(one) for one in (*SETTINGS, *more)}
    found = {name: (one.description, one.additional_constraints,
                    [(part.from_value, part.to_value) for part in (*one.floating_point_range, *one.integer_range)])
             for name, one in described.items()}  # fmt: skip
    assert found == {
        "rate": ("messages a second", "within [1, 1000]", [(1.0, 1000.0)]),
        "size": ("entries", "at least 1", [(1, 2**63 - 1)]), "side": ("which arm", "one of right, left", []),
        "joints": ("names", "", []), "gains": ("one a joint", "at least 0", []), "share": ("any", "", []),
        "most": ("all [m]", "at most 2.5", [(-np.inf, 2.5)]), "few": ("all", "at most 4", [(-(2**63), 4)]),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "value", "part"), [
    ("rate", 3.0, "a divisor of 1000"), ("rate", 0.5, "within [1, 1000]"), ("rate", float("nan"), "within [1, 1000]"),
    ("rate", "200", "a number"), ("joints", [1], "a list of strings"), ("size", 3.0, "a whole number"),
    ("size", 0, "at least 1"), ("side", "up", "one of right, left"), ("gains", [1.0, -1.0], "at least 0"),
])  # fmt: skip
def test_bad_start_up_value_is_named(make_node, name, value, part):
    with pytest.raises(ParameterError, match="must be") as caught:
        make_node(**{name: value})
    assert caught.value.name == name and part in str(caught.value)


def test_a_start_up_value_of_an_unknown_parameter_is_warned_of(make_node, capfd):
    make_node(sizes=3, frame_id=3, **{"qos_overrides./images.subscription.depth": 1})
    warned = capfd.readouterr().err
    assert "unknown parameter sizes, which changes nothing; did you mean size" in warned and "qos" not in warned
    assert "unknown parameter frame_id, which changes nothing\n" in warned  # it does not resemble "rate"


def test_changes_are_guarded_and_reported(make_node):
    seen, configured = [], []

    def on_change(name, value):
        if value == 500.0:
            raise ParameterError(name, value, "possible now")
        seen.append((name, value))

    node = make_node(on_change, lambda: bool(configured))
    node.set_parameters([Parameter("rate", value=10.0)])
    assert seen == []
    configured.append(True)
    for value, accepted in [(3.0, False), (float("nan"), False), (500.0, False), (100.0, True)]:
        [result] = node.set_parameters([Parameter("rate", value=value)])
        assert result.successful == accepted and (accepted or "rate" in result.reason)
    assert seen == [("rate", 100.0)] and node.get_parameter("rate").value == 100.0
