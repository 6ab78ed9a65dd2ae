"""What a rigid body that is fixed to a link, and a wrench on that link from outside, do to the learned outputs."""

import numpy as np
import pinocchio

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import Regressor
from icub_learning.dynamics.regressors.robot_model import BODY_PARAMETERS, RobotModel
from icub_learning.dynamics.regressors.wrench_regressor import WRENCH_AXES
from icub_learning.errors import ModelError
from icub_learning.robots import link_at, read_urdf

N_BODY, N_WRENCH = len(BODY_PARAMETERS), len(WRENCH_AXES)
UNIT_LENGTH = 0.1  # [m] lever at which masses compare with moments of inertia, forces with moments: half of a hand


class LinkEffects:
    """Rows of the ten inertial parameters of a load at a link, and of a wrench that acts on the link from outside.

    The load's parameters are m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the link's frame, in
    its axes. The wrench is force [N] and moment [N m] at that origin, in the axes of the root. Both are linear: the
    outputs grow by `load @ parameters` and by `push @ wrench`.

    Source: Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and links" (1986); the
    wrench by the transpose of the link's Jacobian.

    Args:
        regressor: regressor of the robot; it is not used afterwards.
        link: name of a link of the URDF; "": the one moved by that joint of `regressor.joints` which has most of them
            before it, the last such one; with a sensor, of those beyond it, or the link that it carries without any.

    Attributes:
        link, n_outputs: name of the link, and number of rows.
        mixes_outputs: whether the outputs are the axes of one sensor, which errors of its gain mix.
        held_joints: joints before the link that are not learned, taken to stand at their neutral position.

    Raises ModelError if the URDF has no such link, or the outputs do not depend on what it carries.
    """

    def __init__(self, regressor: Regressor, link: str = "") -> None:
        sensor = regressor.sensor
        self._model = RobotModel(regressor.urdf, regressor.joints, sensor)
        model, sensor_id, names = self._model.model, self._model.sensor_id, self._model.body_names
        beyond = list(model.subtrees[sensor_id])  # joints beyond the sensor; all without one
        moved = [joint for name in regressor.joints[::-1] if (joint := model.getJointId(name)) in beyond]
        self.link = link or names[max(moved, key=lambda joint: len(model.supports[joint]), default=sensor_id) - 1]
        self.n_outputs, self.mixes_outputs = regressor.n_outputs, sensor is not None
        self._frame = self._model.frame_of(self.link)
        if (joint := model.frames[self._frame].parentJoint) == 0 or joint not in beyond:
            what = "is moved by none of the joints" if sensor is None else "lies before the force/torque sensor"
            text = f"link {self.link!r} {what}: nothing shows what it carries"
            raise ModelError(text, name="load_link", value=self.link, bound="a link beyond it")
        first = model.joints[sensor_id].idx_v
        self._rows = self._model.velocity_index if sensor is None else slice(first, first + N_WRENCH)
        self._sign = -1.0 if getattr(regressor, "direction", "") == "child_to_parent" else 1.0
        self.held_joints = self._held_between(names[joint - 1], self.link)

    def _held_between(self, moving: str, link: str) -> tuple[str, ...]:
        """Return the names of the joints of one degree of freedom between the moving link and the link."""
        above = {link_at(joint, "child"): joint for joint in read_urdf(self._model.urdf).findall("joint")}
        names: list[str] = []
        while link != moving and link in above:
            names.insert(0, above[link].get("name", ""))
            link = link_at(above[link], "parent")
        return tuple(name for name in names if name in self._model.known_joints)

    def __call__(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Return `load` (n_outputs, 10) and `push` (n_outputs, 6) at a motion of the joints. Raises ShapeError."""
        return self.load(q, v, a), -self._sign * self._jacobian(pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED).T

    def load(self, q: Array, v: Array, a: Array) -> Array:
        """Return `load` (n_outputs, 10) alone: the link's wrench, carried to the outputs. Raises ShapeError."""
        model, data = self._model.model, self._model.data
        state = self._model.state(q, v, a)
        self._position = state[0]
        pinocchio.rnea(model, data, *state)  # velocities and accelerations of the joints, with gravity
        wrench = pinocchio.frameBodyRegressor(model, data, self._frame)
        rows: Array = self._sign * self._jacobian(pinocchio.ReferenceFrame.LOCAL).T @ wrench
        return rows

    def _jacobian(self, axes: pinocchio.ReferenceFrame) -> Array:
        """Return the columns (6, n_outputs) of the Jacobian of the link's frame at the motion of the last load."""
        model, data = self._model.model, self._model.data
        jacobian: Array = pinocchio.computeFrameJacobian(model, data, self._position, self._frame, axes)
        return jacobian.reshape(6, -1)[:, self._rows]  # a vector for a robot with one joint


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
    sigma = pseudo[:3, :3]
    return np.concatenate([pseudo[3, 3:], pseudo[:3, 3], (np.trace(sigma) * np.eye(3) - sigma).T[np.tril_indices(3)]])
