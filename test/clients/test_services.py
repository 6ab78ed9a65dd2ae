"""Parameters of another node: its values as Python has them, by name."""

from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter

from icub_learning.clients.services import parameters_in

VALUES = {"urdf": "ur10", "learning": False, "rate": 200, "tolerance": 0.25, "joints": ["elbow", "wrist"]}


def test_values_come_by_name_as_python_has_them_and_those_that_are_not_answered_are_left_out():
    values = [Parameter(name, value=value).get_parameter_value() for name, value in VALUES.items()]
    names = [*VALUES, "never set"]
    found = parameters_in(GetParameters.Response(values=[*values, ParameterValue()]), names)
    assert found == VALUES | {"never set": None}
    assert found["learning"] is False
    for count in (0, 2):
        answered = dict(list(VALUES.items())[:count])
        assert parameters_in(GetParameters.Response(values=values[:count]), names) == answered
