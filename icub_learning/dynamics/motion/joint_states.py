"""Checks on arriving joint states, and the selection of the learned joints from them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from icub_learning.arrays import Array
from icub_learning.dynamics import _checks
from icub_learning.errors import SampleError

LARGEST = 1e4  # [rad, rad/s (m, m/s)] beyond any real joint; corrupted messages exceed it
LARGEST_ANGLE = 5e7  # [rad] the same of continuous joints: 8e6 turns; doubles are 7e-9 apart, steps of 24 bits 4e-7
LARGEST_EFFORT = 1e8  # [N, N m] the same of sensors and drives: presses and excavators reach 1e6


class JointState(NamedTuple):
    """One accepted joint state: the learned joints, in their order; velocity or effort None where not measured."""

    position: Array
    velocity: Array | None
    effort: Array | None


class JointStateReader:
    """Selects the learned joints from messages that may hold more, and refuses invalid messages.

    Args:
        joints: names of the learned joints, in the order of all arrays.
        known_joints: all joints of the robot; other names are refused as those of another robot. Empty: all pass.
        circular: places in `joints` of continuous joints, whose angles may go on.
        any_order: whether messages may have the learned joints in another order than `joints`.
        velocity_source: "auto": velocities are taken where a message has them; "message": a message without them is
            refused; "estimated": they are ignored.
    """

    def __init__(
        self, joints: Sequence[str], known_joints: Sequence[str] = (), circular: ArrayLike = (), *,
        any_order: bool = False, velocity_source: str = "auto",
    ) -> None:  # fmt: skip
        self.joints = tuple(joints)
        self._known = frozenset([*known_joints, *joints]) if known_joints else None
        self._any_order, self._velocity_source = any_order, velocity_source
        endless = np.isin(np.arange(len(self.joints)), circular)
        self._bounds = {"position": np.where(endless, LARGEST_ANGLE, LARGEST)}
        # Names and indices of the last valid message; most often the next one has the same.
        self._names: tuple[str, ...] | None = None
        self._indices: NDArray[np.intp] = np.arange(0)

    def read(
        self, names: Sequence[str], position: ArrayLike, velocity: ArrayLike | None = None,
        effort: ArrayLike | None = None,
    ) -> JointState:  # fmt: skip
        """Return the learned joints of a message; a field that is None or empty was not measured.

        Raises SampleError: reason one of joint_names_missing, joint_name_unknown, joint_name_repeated, joint_order,
        velocity_missing, array_size, not_finite, out_of_range.
        """
        indices = self._indices if names is self._names or tuple(names) == self._names else self._find(names)
        if (taken := self._take("position", position, indices, len(names), LARGEST)) is None:
            raise _size_error("position", 0, len(names))
        given = None if self._velocity_source == "estimated" else velocity
        speeds = self._take("velocity", given, indices, len(names), LARGEST)
        efforts = self._take("effort", effort, indices, len(names), np.inf)
        if speeds is None and self._velocity_source == "message":
            text = "velocity is empty: publish it, or have velocities estimated from positions"
            raise SampleError("velocity_missing", text, name="velocity")
        self._names, self._indices = tuple(names), indices
        return JointState(taken, speeds, efforts)

    def _take(
        self, field: str, given: ArrayLike | None, indices: NDArray[np.intp], count: int, largest: float
    ) -> Array | None:
        """Return one field of the learned joints, checked unless `largest` is infinite; None if it is empty."""
        if given is None:
            return None
        array = given if type(given) is memoryview else np.ascontiguousarray(given, dtype=np.float64)
        if array.shape != (count,):
            if not array.nbytes:
                return None
            raise _size_error(field, array.nbytes // array.itemsize, count)
        taken = np.empty(len(indices))
        if not _checks.select(taken, array, indices, largest) and largest < np.inf:
            check_values(field, taken, self.joints, self._bounds.get(field, largest))
        return taken

    def _find(self, names: Sequence[str]) -> NDArray[np.intp]:
        where = {name: index for index, name in enumerate(names)}
        if len(where) < len(names):
            repeated = sorted({name for name in names if list(names).count(name) > 1})
            raise SampleError("joint_name_repeated", f"joint names come twice: {', '.join(repeated)}", value=repeated)
        if unknown := [] if self._known is None else [name for name in names if name not in self._known]:
            text = f"the robot has no joint {', '.join(map(repr, unknown))}"
            raise SampleError("joint_name_unknown", text, name=unknown[0], value=unknown)
        if missing := [name for name in self.joints if name not in where]:
            text = f"joint {', '.join(map(repr, missing))} is missing"
            raise SampleError("joint_names_missing", text, name=missing[0], value=missing)
        indices = np.array([where[name] for name in self.joints])
        if not self._any_order and (np.diff(indices) < 0).any():
            order = [name for name in names if name in set(self.joints)]
            text = f"joints come as {order}, expected as {list(self.joints)}: set joint_order: any"
            raise SampleError("joint_order", text, value=order, bound=str(list(self.joints)))
        return indices


def _size_error(field: str, size: int, count: int) -> SampleError:
    wrong = f"has {size} numbers for {count} names" if size != count else f"is no list of {count} numbers"
    return SampleError("array_size", f"{field} {wrong}", name=field, value=size, bound=str(count))


def check_values(field: str, values: Array, names: Sequence[str], largest: float | Array) -> None:
    """Raise SampleError (not_finite, out_of_range) unless all values are finite and at most `largest` in magnitude."""
    size = np.abs(values)
    if (size <= largest).all():
        return
    finite = np.isfinite(values)
    worst = int(np.argmin(finite)) if not finite.all() else int(np.argmax(size / largest))
    reason = "out_of_range" if finite.all() else "not_finite"
    bound = f"finite and of magnitude at most {np.broadcast_to(largest, size.shape)[worst]:g}"
    text = f"{field} of {names[worst]} is {values[worst]}, but must be {bound}"
    raise SampleError(reason, text, name=names[worst], value=float(values[worst]), bound=bound)
