"""Parameters of other nodes, by whatever calls their services."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from rcl_interfaces.srv import GetParameters
from rclpy.parameter import parameter_value_to_python

AnswerT = TypeVar("AnswerT")


def ask_parameters(call: Callable[..., AnswerT], node: str, names: Sequence[str]) -> AnswerT:
    """Ask a node for parameters; return what `call`, as `Services.call` or `ServiceCalls.send`, returns for it."""
    return call(GetParameters, f"{node}/get_parameters", names=list(names))


def parameters_in(response: GetParameters.Response, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of parameters that `ask_parameters` asked for by their names, None of one that is not set.

    Some nodes answer with fewer values, or none, where they lack a parameter; names without a value are left out.
    """
    return {name: parameter_value_to_python(value) for name, value in zip(names, response.values, strict=False)}
