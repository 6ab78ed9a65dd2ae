"""A Pinocchio model from a URDF in which only the chosen joints move, and errors that name faults of the URDF."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio
from numpy.typing import NDArray

from icub_learning.arrays import Array
from icub_learning.errors import ModelError, ShapeError, did_you_mean
from icub_learning.robots import ONE_DOF, Urdf, link_at, of_type, read_urdf

# Pinocchio's order of the parameters of one rigid body (`Inertia.toDynamicParameters`): mass [kg], first moment
# m * c [kg m], and the inertia about the origin of the joint frame (not about the centre of mass) [kg m^2].
BODY_PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")

_LINK = "link "  # before names of links in Pinocchio's model: a URDF may give a joint and a link one name


class RobotModel:
    """A fixed-base robot in which the chosen joints move and all others are held at their neutral position.

    Neutral is 0, clipped into the joint's limits. Links that a held or fixed joint ties to a moving link count as
    part of it: their inertias are carried into its frame. A force/torque sensor is a fixed joint; here it becomes a
    joint with six degrees of freedom that never moves, because Pinocchio would otherwise merge the links on its two
    sides and the wrench between them could not be read. Not for several threads at once: buffers are reused.

    Args:
        urdf: path of a URDF file, or its XML text.
        joints: names of the joints that move, in the order of the entries of q, v and a.
        sensor: name of the fixed joint that carries the force/torque sensor, if there is one.

    Attributes:
        joints, known_joints: names of the joints that move, as given, and of all joints of one degree of freedom.
        model, data: the reduced Pinocchio model, and its working memory.
        circular: places of the joints that turn without end ("continuous").
        velocity_index: (n_joints,) row of each joint in Pinocchio's velocity and torque vectors.
        body_names: for every body of `model` after the universe, the link that its joint moves.
        sensor_id: Pinocchio's number of the sensor joint, 0 without one.
        urdf: XML text that builds the same model again; geometry and other content without masses left out.

    Raises ModelError if the file is missing; the text is no URDF; a joint is absent, listed twice or not of one degree
    of freedom; the sensor is absent or not a fixed joint; a number of an inertia is missing or not finite.
    """

    def __init__(self, urdf: Urdf, joints: Sequence[str], sensor: str | None = None) -> None:
        root = read_urdf(urdf)
        root[:] = [element for element in root if element.tag in ("link", "joint")]
        for link in root.findall("link"):
            _check_inertial(link)
            link[:] = [element for element in link if element.tag not in ("visual", "collision")]
        self.urdf = ElementTree.tostring(root, encoding="unicode")
        elements = {joint.get("name", ""): joint for joint in root.findall("joint")}
        self.joints = _checked_joints(joints, elements)
        self.known_joints, moving = of_type(elements.values(), ONE_DOF), set(self.joints)
        if sensor is not None:
            _free_sensor(sensor, elements)
            moving.add(sensor)
        children = {name: link_at(joint, "child") for name, joint in elements.items()}
        for link in root.findall("link"):
            link.set("name", _LINK + link.get("name", ""))
        for end in root.findall("joint/parent") + root.findall("joint/child"):
            end.set("link", _LINK + end.get("link", ""))
        try:
            full = pinocchio.buildModelFromXML(ElementTree.tostring(root, encoding="unicode"))
            held = [index for index in range(1, full.njoints) if full.names[index] not in moving]
            self.model = pinocchio.buildReducedModel(full, held, neutral(full))
        except (RuntimeError, ValueError) as error:
            text = f"Pinocchio cannot build a model from the URDF: {error}"
            raise ModelError(text, name="urdf", value=str(error), bound="a valid URDF") from error
        self.data = self.model.createData()
        self.body_names = tuple(children[name] for name in list(self.model.names)[1:])
        self.sensor_id = self.model.getJointId(sensor) if sensor is not None else 0

        ids = [self.model.getJointId(name) for name in self.joints]
        self.velocity_index = np.array([self.model.joints[index].idx_v for index in ids])
        # A continuous joint is stored as (cos, sin) of its angle, every other one as its position.
        position = np.array([self.model.joints[index].idx_q for index in ids])
        circular = np.array([self.model.joints[index].nq == 2 for index in ids])
        self._plain, self.circular = np.flatnonzero(~circular), np.flatnonzero(circular)
        self._position_place, self._cosine_place = _as_slice(position[~circular]), position[circular]
        self._velocity_place, self._q = _as_slice(self.velocity_index), pinocchio.neutral(self.model)
        self._v, self._a = np.zeros((2, self.model.nv))

    def state(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and accelerations in Pinocchio's layout, in buffers that the next call reuses.
        Raises ShapeError unless q, v, a are of shape (n_joints,) [rad or m, and seconds]; values are not checked."""
        shape = self.velocity_index.shape
        for name, values in (("q", q), ("v", v), ("a", a)):
            # The attribute first: calling np.shape three times per prediction takes longer.
            if getattr(values, "shape", None) != shape and np.shape(values) != shape:
                raise ShapeError(name, np.shape(values), f"{shape}")
        if self.circular.size:
            angles = np.asarray(q)[self.circular]
            self._q[self._position_place] = np.asarray(q)[self._plain]
            self._q[self._cosine_place], self._q[self._cosine_place + 1] = np.cos(angles), np.sin(angles)
        else:
            self._q[self._position_place] = q
        self._v[self._velocity_place], self._a[self._velocity_place] = v, a
        return self._q, self._v, self._a

    def frame_of(self, link: str) -> int:
        """Return Pinocchio's number of the frame of a link. Raises ModelError if the URDF has no such link."""
        if not self.model.existFrame(_LINK + link):
            names = [frame.name.removeprefix(_LINK) for frame in self.model.frames if frame.name.startswith(_LINK)]
            raise absent("link", link, names, "load_link")
        return int(self.model.getFrameId(_LINK + link))

    def body_parameters(self, bodies: Iterable[int]) -> dict[str, float]:
        """Return the ten parameters of each body from the URDF by their names "link.parameter", see BODY_PARAMETERS."""
        return {
            f"{self.body_names[body - 1]}.{name}": float(value)
            for body in bodies
            for name, value in zip(BODY_PARAMETERS, self.model.inertias[body].toDynamicParameters(), strict=True)
        }


def neutral(model: pinocchio.Model) -> Array:
    """Return the positions at which joints are held: 0, or the limit nearest to it."""
    return np.asarray(np.clip(pinocchio.neutral(model), model.lowerPositionLimit, model.upperPositionLimit))


def _as_slice(indices: NDArray[np.intp]) -> NDArray[np.intp] | slice:
    """Return consecutive indices as a slice, which is faster to index with; others unchanged."""
    return slice(int(indices[0]), int(indices[-1]) + 1) if len(indices) and (np.diff(indices) == 1).all() else indices


def _numbers(text: str | None) -> list[float]:
    """Return the numbers of an attribute, none where it is missing or holds another word."""
    try:
        return [float(number) for number in (text or "").split()]
    except ValueError:
        return []


def _check_inertial(link: ElementTree.Element) -> None:
    """Raise ModelError unless all numbers of the link's inertia are finite: the URDF parser would drop it silently."""
    if (inertial := link.find("inertial")) is None:
        return
    numbers = {("mass", "value"): 1} | {("inertia", f"i{axes}"): 1 for axes in ("xx", "xy", "xz", "yy", "yz", "zz")}
    if (origin := inertial.find("origin")) is not None:
        numbers |= {("origin", attribute): 3 for attribute in ("xyz", "rpy") if origin.get(attribute) is not None}
    for (tag, attribute), count in numbers.items():
        element = inertial.find(tag)
        text = element.get(attribute) if element is not None else None
        values = _numbers(text)
        if len(values) != count or not np.isfinite(values).all() or (tag == "mass" and values[0] < 0.0):
            name = f"{link.get('name')}.{tag}.{attribute}"
            bound = "a number of at least 0" if tag == "mass" else f"{count} finite number{'s' if count > 1 else ''}"
            raise ModelError(f"{name} of the URDF is {text!r}, but must be {bound}", name=name, value=text, bound=bound)


def _checked_joints(joints: Sequence[str], elements: dict[str, ElementTree.Element]) -> tuple[str, ...]:
    """Return the names as a tuple. Raises ModelError unless each is known, unique and of one degree of freedom."""
    if not (names := () if joints is None or isinstance(joints, str) else tuple(joints)):
        bound = "a non-empty list of joint names"
        raise ModelError(f"joints is {joints!r}, but must be {bound}", name="joints", value=joints, bound=bound)
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        message = f"joint {', '.join(repr(name) for name in repeated)} is listed more than once"
        raise ModelError(message, name="joints", value=repeated, bound="each joint once")
    for name in names:
        if name not in elements:
            raise absent("joint", name, of_type(elements.values(), ONE_DOF))
        if (kind := elements[name].get("type")) not in ONE_DOF:
            message = f"joint '{name}' is {kind}, but must have one degree of freedom ({', '.join(ONE_DOF)})"
            raise ModelError(message, name=name, value=kind, bound=", ".join(ONE_DOF))
        axis = elements[name].find("axis")  # without one URDF's default, x
        if axis is not None and not 0 < np.linalg.norm(_numbers(axis.get("xyz"))) < np.inf:
            bound = "three finite numbers that are not all 0"
            message = f"the axis of joint '{name}' is {axis.get('xyz')!r}, but must be {bound}"
            raise ModelError(message, name=name, value=axis.get("xyz"), bound=bound)
    return names


def _free_sensor(sensor: str, elements: dict[str, ElementTree.Element]) -> None:
    """Turn the fixed joint of the sensor into one of six degrees of freedom, in place. Raises ModelError."""
    if sensor not in elements:
        raise absent("sensor joint", sensor, of_type(elements.values(), ("fixed",)))
    joint = elements[sensor]
    if joint.get("type") != "fixed":
        message = f"sensor joint '{sensor}' is {joint.get('type')}, but must be fixed"
        raise ModelError(message, name=sensor, value=joint.get("type"), bound="fixed")
    joint.set("type", "floating")
    joint[:] = [element for element in joint if element.tag not in ("axis", "limit", "mimic")]


def absent(what: str, value: Any, known: Sequence[str], name: str = "") -> ModelError:
    """Return the error that a URDF lacks something, with what it may be among the known ones; `name`: the argument."""
    others = did_you_mean(value, known) or ("" if len(known) > 5 else f", only: {', '.join(known) or 'none'}")
    text = f"the URDF has no {what} '{value}'{others}"
    return ModelError(text, name=name or str(value), value=value, bound=", ".join(known))
