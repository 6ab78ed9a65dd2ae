"""ROS parameters from a table: each with a description and a range; a bad value is refused with both in the reason."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter

from icub_learning.errors import ParameterError


@dataclass(frozen=True)
class ParameterSpec:
    """One declared parameter; its type is the type of `default` (an empty list of strings is [""]).

    Attributes:
        name: name of the parameter.
        default: bool, int, float, str, or a list of one of them.
        description: meaning and unit.
        low: smallest value accepted (of every entry of a list), or None.
        high: largest value accepted, or None.
        choices: the only strings accepted, or () for any.
        read_only: True if it can only be given at start-up.
        check: called with a value that passed all else; returns None, or in words what is accepted.
    """

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    choices: Sequence[str] = ()
    read_only: bool = False
    check: Callable[[Any], str | None] | None = None

    def descriptor(self) -> ParameterDescriptor:
        """Return what `ros2 param describe` shows."""
        descriptor = ParameterDescriptor(description=self.description, read_only=self.read_only)
        descriptor.additional_constraints = self.bound()
        low, high = self.low, self.high
        if isinstance(self.default, float) and not (low is None and high is None):
            descriptor.floating_point_range = [
                FloatingPointRange(
                    from_value=-math.inf if low is None else float(low),
                    to_value=math.inf if high is None else float(high),
                )
            ]
        elif isinstance(self.default, int) and not (low is None and high is None):
            descriptor.integer_range = [
                IntegerRange(
                    from_value=-(2**63) if low is None else int(low),
                    to_value=2**63 - 1 if high is None else int(high),
                )
            ]
        return descriptor

    def bound(self) -> str:
        """Return in words what is accepted, or an empty string for anything of the right type."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.low is None and self.high is None:
            return ""
        if self.high is None:
            return f"at least {self.low:g}"
        if self.low is None:
            return f"at most {self.high:g}"
        return f"within [{self.low:g}, {self.high:g}]"

    def validate(self, value: Any) -> None:
        """Do nothing if `value` is accepted. Raises ParameterError."""
        for entry in [value] if isinstance(value, (bool, int, float, str)) else list(value):
            inside = not self.choices or entry in self.choices
            if isinstance(entry, (int, float)) and not isinstance(entry, bool):
                low = -math.inf if self.low is None else self.low
                high = math.inf if self.high is None else self.high
                inside = low <= entry <= high  # NaN is never inside
            if not inside:
                raise ParameterError(self.name, value, self.bound() or "a number")
        accepted = self.check(value) if self.check else None
        if accepted:
            raise ParameterError(self.name, value, accepted)


def declare(
    node: Node,
    specs: Sequence[ParameterSpec],
    on_change: Callable[[str, Any], None] | None = None,
) -> None:
    """Declare all parameters of `specs` on `node`, and guard them from then on.

    Args:
        on_change: called with name and new value when an accepted parameter changes after its declaration;
            raising ParameterError there refuses the change with the message of the error.

    Raises:
        ParameterError: a value given at start-up is outside its range.
    """
    table = {spec.name: spec for spec in specs}

    def guard(parameters: list[Parameter]) -> SetParametersResult:
        ours = [parameter for parameter in parameters if parameter.name in table]
        try:
            for parameter in ours:
                table[parameter.name].validate(parameter.value)
            for parameter in ours:
                if on_change and node.has_parameter(parameter.name):
                    on_change(parameter.name, parameter.value)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(guard)
    for spec in specs:
        try:
            node.declare_parameter(spec.name, spec.default, spec.descriptor())
        except ParameterException:
            given = node._parameter_overrides[spec.name].value  # rclpy has no public way to read a refused override
            if type(given) is type(spec.default):
                spec.validate(given)
            raise ParameterError(spec.name, given, f"a {type(spec.default).__name__}") from None


def values(node: Node, specs: Sequence[ParameterSpec]) -> dict[str, Any]:
    """Return the present values by name; lists come as Python lists, without empty strings."""
    result = {}
    for spec in specs:
        value = node.get_parameter(spec.name).value
        if isinstance(spec.default, list):
            value = [entry for entry in value if entry != ""]
        result[spec.name] = value
    return result
