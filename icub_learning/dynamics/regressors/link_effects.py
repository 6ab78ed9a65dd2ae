"""What a rigid body that is fixed to a link, and a wrench on that link from outside, do to the learned outputs."""

from difflib import get_close_matches

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.robot_model import BODY_PARAMETERS, RobotModel, child_link, read_urdf
from icub_learning.dynamics.regressors.torque_regressor import TorqueRegressor
from icub_learning.dynamics.regressors.wrench_regressor import WRENCH_AXES, WrenchRegressor
from icub_learning.errors import ModelError

N_BODY = len(BODY_PARAMETERS)
N_WRENCH = len(WRENCH_AXES)
UNIT_LENGTH = 0.1  # [m] by which masses and moments of inertia, forces and moments are compared: half of a hand


class LinkEffects:
    """Rows of the ten inertial parameters of a load at a link, and of a wrench that acts on the link from outside.

    The load's parameters are m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the link's frame, in
    its axes. The wrench is force [N] and moment [N m] at that origin, in the axes of the root. Both are linear: the
    outputs grow by `load @ parameters` and by `push @ wrench`.

    Source: Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986); the
    wrench by the transpose of the link's Jacobian.

    Args:
        regressor: regressor of the robot; it is not used afterwards.
        link: name of a link of the URDF; "": the one that the last joint of `regressor.joints` moves, or that the
            force/torque sensor carries if it comes after that joint.

    Attributes:
        link: name of the link.
        n_outputs: number of rows.
        mixes_outputs: whether the outputs are the axes of one sensor, which errors of its gain mix.
        held_joints: joints between the learned ones and the link that are not learned, taken to stand at their neutral
            position.

    Raises:
        ModelError: the URDF has no such link, or the outputs do not depend on what it carries.
    """

    def __init__(self, regressor: WrenchRegressor | TorqueRegressor, link: str = "") -> None:
        wrench = isinstance(regressor, WrenchRegressor)
        sensor = regressor.sensor if isinstance(regressor, WrenchRegressor) else None
        self._model = RobotModel(regressor._model.urdf, regressor.joints, sensor)
        model = self._model.model
        last = model.getJointId(regressor.joints[-1])
        if wrench and last not in list(model.subtrees[self._model.sensor_id]):  # a sensor beyond the last joint
            last = self._model.sensor_id
        self.link = link or self._model.body_names[last - 1]
        self.n_outputs = regressor.n_outputs
        self.mixes_outputs = wrench
        if not model.existFrame(self.link):
            names = [frame.name for frame in model.frames]
            close = ", ".join(get_close_matches(self.link, names, n=3, cutoff=0.5)) or "a link of the URDF"
            raise ModelError(f"the URDF has no link {self.link!r}", name="load_link", value=self.link, bound=close)
        self._frame = model.getFrameId(self.link)
        frame = model.frames[self._frame]
        self._joint = frame.parentJoint
        if self._joint == 0 or (wrench and self._joint not in list(model.subtrees[self._model.sensor_id])):
            what = "lies before the force/torque sensor" if wrench else "is moved by none of the joints"
            text = f"link {self.link!r} {what}: nothing shows what it carries"
            raise ModelError(text, name="load_link", value=self.link, bound="a link beyond it")
        if wrench:
            first = model.joints[self._model.sensor_id].idx_v
            self._rows: slice | Array = slice(first, first + N_WRENCH)
        else:
            self._rows = self._model.velocity_index
        negative = isinstance(regressor, WrenchRegressor) and regressor.direction == "child_to_parent"
        self._sign = -1.0 if negative else 1.0
        self.held_joints = self._held_before()

    def _held_before(self) -> tuple[str, ...]:
        """Names of the joints of one degree of freedom of the URDF between the moving link and the link."""
        joints = read_urdf(self._model.urdf).findall("joint")
        above = {child_link(joint): joint for joint in joints}
        link, moving = self.link, self._model.body_names[self._joint - 1]
        names: list[str] = []
        while link != moving and link in above:
            joint = above[link]
            if joint.get("name") in self._model.known_joints:
                names.append(joint.get("name", ""))
            parent = joint.find("parent")
            link = parent.get("link", "") if parent is not None else ""
        return tuple(reversed(names))

    def __call__(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return `load` (n_outputs, 10) and `push` (n_outputs, 6) at a motion of the joints. Raises ShapeError."""
        load, position = self._load(q, v, a)
        return load, -self._sign * self._jacobian(position, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED).T

    def load(self, q: Array, v: Array, a: Array) -> Array:
        """Return `load` (n_outputs, 10) alone. Raises ShapeError."""
        return self._load(q, v, a)[0]

    def _load(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return `load`, and the position in Pinocchio's layout: the link's wrench, carried to the outputs."""
        model, data = self._model.model, self._model.data
        state = self._model.state(q, v, a)
        pinocchio.rnea(model, data, *state)  # velocities and accelerations of the joints, with gravity
        wrench = pinocchio.frameBodyRegressor(model, data, self._frame)
        rows: Array = self._sign * self._jacobian(state[0], pinocchio.ReferenceFrame.LOCAL).T @ wrench
        return rows, state[0]

    def _jacobian(self, position: Array, axes: pinocchio.ReferenceFrame) -> Array:
        """Return the columns (6, n_outputs) of the Jacobian of the link's frame."""
        model, data = self._model.model, self._model.data
        jacobian: Array = pinocchio.computeFrameJacobian(model, data, position, self._frame, axes)
        return jacobian[:, self._rows]


def body_units() -> Array:
    """Return ten inertial parameters (10,) as large as those of 1 kg at UNIT_LENGTH [kg, kg m, kg m^2]."""
    return UNIT_LENGTH ** np.repeat([0, 1, 2], [1, 3, 6])


def wrench_units() -> Array:
    """Return a force and a moment (6,) as large as those of 1 N at UNIT_LENGTH [N, N m]."""
    return UNIT_LENGTH ** np.repeat([0, 1], 3)


def pseudo_inertia(parameters: Array) -> Array:
    """Return the pseudo-inertia (4, 4) of ten inertial parameters: [[Sigma, h], [h', m]], Sigma = tr(I) / 2 - I.

    Source: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
    identification" (2018), eq. 14.
    """
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = parameters.tolist()
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, hx], [-xy, half - yy, -yz, hy], [-xz, -yz, half - zz, hz], [hx, hy, hz, m]])


def from_pseudo_inertia(pseudo: Array) -> Array:
    """Return the ten inertial parameters of a pseudo-inertia (4, 4), the inverse of `pseudo_inertia`."""
    sigma, trace = pseudo[:3, :3], float(np.trace(pseudo[:3, :3]))
    inertia = trace * np.eye(3) - sigma
    h = pseudo[:3, 3]
    return np.array(
        [pseudo[3, 3], *h, inertia[0, 0], inertia[0, 1], inertia[1, 1], inertia[0, 2], inertia[1, 2], inertia[2, 2]]
    )


def parameters_in_frame(placement: Array) -> Array:
    """Return the matrix (10, 10) that carries inertial parameters into another frame.

    Args:
        placement: (4, 4), the homogeneous transformation of points from the old frame into the new one.
    """
    moved = [from_pseudo_inertia(placement @ pseudo_inertia(unit) @ placement.T) for unit in np.eye(N_BODY)]
    return np.asarray(np.array(moved).T)
