"""ROS parameters derived from settings: each with a description and a range; a bad value is refused with a reason."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from icub_learning.errors import ParameterError, did_you_mean
from icub_learning.settings import Setting

TYPES = frozenset(kind.value for kind in Parameter.Type)
FIXED = "what it was when the node was configured; clean the node up to change it"


def ros_default(setting: Setting) -> Any:
    """Return the default as ROS holds it: a tuple as a list, which for strings must not be empty."""
    return (list(setting.default) or [""]) if isinstance(setting.default, tuple) else setting.default


def descriptor(setting: Setting) -> ParameterDescriptor:
    """Return what `ros2 param describe` shows."""
    described = ParameterDescriptor(description=setting.meaning)
    described.additional_constraints, described.dynamic_typing = setting.bound, setting.or_number
    kind, low, high = type(setting.default), setting.low, setting.high
    if low is None and high is None:
        return described
    if kind is float:
        limits = [-math.inf if low is None else float(low), math.inf if high is None else float(high)]
        described.floating_point_range = [FloatingPointRange(from_value=limits[0], to_value=limits[1])]
    elif kind is int:
        bounds = [-(2**63) if low is None else int(low), 2**63 - 1 if high is None else int(high)]
        described.integer_range = [IntegerRange(from_value=bounds[0], to_value=bounds[1])]
    return described


def with_known_types(callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the callback of rclpy's set_parameters services, wrapped to refuse types on which rclpy would raise."""

    def answer(request: Any, response: Any) -> Any:
        if not (unknown := sorted({one.value.type for one in request.parameters} - TYPES)):
            return callback(request, response)
        refused = SetParametersResult(reason=f"type {unknown[0]} is none of rcl_interfaces/msg/ParameterType")
        if hasattr(response, "results"):
            response.results = [refused] * len(request.parameters)
        else:
            response.result = refused
        return response

    return answer


def declare(
    node: Node, settings: Sequence[Setting], on_change: Callable[[str, Any], None] | None = None,
    configured: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Declare all parameters of `settings` on `node`, and guard them from then on.

    A parameter that is not live takes effect when the node is configured; a change while it is `configured` is
    refused. Other changes then go to `on_change`, by name and new value; a ParameterError that it raises refuses the
    change with its message. A warning names parameters given at start-up that are not declared. Raises ParameterError:
    a value given at start-up is outside its range.
    """
    table = {setting.name: setting for setting in settings}

    def unchanged(setting: Setting, value: Any) -> bool:
        present = node.get_parameter(setting.name).value
        return list(present) == list(value) if isinstance(setting.default, tuple) else present == value

    def guard(parameters: list[Parameter]) -> SetParametersResult:
        ours = [parameter for parameter in parameters if parameter.name in table]
        try:
            for parameter in ours:
                setting, value = table[parameter.name], parameter.value
                if setting.names_class(value) and node.has_parameter(setting.name) and not unchanged(setting, value):
                    # Nobody on the network may choose what is imported.
                    choices = ", ".join(setting.choices)
                    raise ParameterError(setting.name, value, f"one of {choices}; a class is named at start-up")
                setting.validate(value)
                if configured() and not setting.live and not unchanged(setting, value):
                    raise ParameterError(setting.name, value, FIXED)
            for parameter in ours:
                if on_change and configured():
                    on_change(parameter.name, parameter.value)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(guard)
    for setting in settings:
        default, given = ros_default(setting), node._parameter_overrides.get(setting.name)
        if type(default) is float and given is not None and type(given.value) is int:  # YAML reads 0 as an integer
            node._parameter_overrides[setting.name] = Parameter(setting.name, value=float(given.value))
        try:
            node.declare_parameter(setting.name, default, descriptor(setting))
        except ParameterException:
            given = node._parameter_overrides[setting.name].value  # rclpy has no public way to read a refused override
            if type(given) is type(default):
                setting.validate(given)
            raise ParameterError(setting.name, given, setting.kind) from None
    for name in node._parameter_overrides:
        if not (node.has_parameter(name) or name.startswith("qos_overrides.")):  # declared with topics
            node.get_logger().warning(f"unknown parameter {name}, which changes nothing{did_you_mean(name, table)}")


def hint(node: Node, settings: Sequence[Setting]) -> str:
    """Return how a parameter file must name this node, if it was started with none of these settings."""
    if any(setting.name in node._parameter_overrides for setting in settings):
        return ""
    own = node.get_fully_qualified_name()
    return f"; no parameters came for {own}: in a file, their section must be {own}, or /**"


def values(node: Node, settings: Sequence[Setting]) -> dict[str, Any]:
    """Return the present values by name; lists come as Python lists, without empty strings."""
    result = {}
    for setting in settings:
        value = node.get_parameter(setting.name).value
        if isinstance(setting.default, tuple):
            value = [entry for entry in value if entry != ""]
        result[setting.name] = value
    return result
