"""The joint torques of a robot, linear in its inertial and friction parameters."""

from collections.abc import Iterable, Sequence

import numpy as np

from icub_learning.arrays import Array, finite, vector
from icub_learning.dynamics.regressors.regressor import DOUBTED, OFFSETS, Regressor
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.robots import Urdf

DRIVE_COLUMNS = ("coulomb", "viscous", "offset", "stribeck", "load", "rotor")
PLAIN_COLUMNS = {"coulomb": 1.0, "viscous": 1.0, "offset": OFFSETS}  # regularization of what nearly all drives need

STRIBECK_VELOCITY = 0.05  # [rad/s or m/s] over which the excess of friction near standstill fades
STANDSTILL = 0.005  # [rad/s or m/s] least width of the direction of friction: it covers presliding and encoder steps
NOISE_WIDTH = 1.2  # width of the direction over the deviation s: tanh(v / 1.2 s) is E[sign(v + s noise)] within 2.5 %


class TorqueRegressor(Regressor):
    """Phi(q, v, a) with joint torques = Phi @ parameters, for the chosen joints of a fixed-base robot.

    Parameters: ten for each body that a chosen joint moves, as those of WrenchRegressor. With friction, then those of
    the drive of each joint, in the order of `joints`: "joint.coulomb" [N m], "joint.viscous" [N m s/rad],
    "joint.offset" [N m], "joint.stribeck" [N m], "joint.load" (no unit) and "joint.rotor" [kg m^2] (prismatic: N,
    N s/m, N, N, none, kg). Row j has at joint j's own columns, with the direction s = tanh(v_j / coulomb_velocity_j):

        coulomb   s                    viscous   v_j            offset   1
        stribeck  s exp(-(v_j / 0.05)^2)                        excess of friction near standstill (Stribeck 1902)
        load      s |load_j|                                    friction of gears in proportion to what they carry
        rotor     a_j                                           inertia of the rotor seen through the gear

    The direction is smooth because measured velocities are never exactly 0: the sign of a joint at rest would be noise
    of full size, and real friction too rises over a small range of speeds (presliding) instead of jumping. Where the
    robot reports motor currents instead of torques, all parameters are scaled by the joints' drive gains. Joints that
    are not listed are held at 0, clipped into their limits.

    Source: the inverse dynamics are linear in the inertial parameters (Atkeson, An and Hollerbach, "Estimation of
    inertial parameters of manipulator loads and links", 1986); Pinocchio's joint torque regressor.

    Attributes: those of WrenchRegressor, without sensor and direction, and `coulomb_velocity` (n_joints,), speeds at
    which 76 % of the Coulomb friction acts [rad/s or m/s]. Outputs are the joints, and have no frame; friction and
    offset of the nominal parameters are 0, so that the regressor times these is Pinocchio's `rnea`. A URDF's <dynamics>
    holds settings of a simulator, not properties of the robot.
    """

    def __init__(
        self, model: RobotModel, friction: bool | Sequence[str] = True, coulomb_velocity: float | Array = STANDSTILL
    ) -> None:
        columns = (DRIVE_COLUMNS if friction else ()) if isinstance(friction, bool) else friction
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise ParameterError("friction", friction, f"true, false or a list, among {', '.join(DRIVE_COLUMNS)}")
        for name in columns:
            if name not in DRIVE_COLUMNS:
                raise ParameterError("friction", name, f"among {', '.join(DRIVE_COLUMNS)}")
        self._columns = tuple(name for name in DRIVE_COLUMNS if name in columns)
        names = [(joint, name) for joint in model.joints for name in self._columns]
        own = {f"{joint}.{name}": PLAIN_COLUMNS.get(name, DOUBTED) for joint, name in names}
        offsets = [place for place, (_, name) in enumerate(names) if name == "offset"]
        super().__init__(model, range(1, model.model.njoints), model.velocity_index, model.joints, own, offsets)
        try:
            width = finite("coulomb_velocity", coulomb_velocity)
        except (NotFiniteError, ShapeError):
            raise ParameterError("coulomb_velocity", coulomb_velocity, "positive numbers") from None
        if np.shape(coulomb_velocity) not in ((), (self.n_joints,)):
            raise ShapeError("coulomb_velocity", np.shape(coulomb_velocity), f"() or ({self.n_joints},)")
        if not (width > 0).all():
            raise ParameterError("coulomb_velocity", coulomb_velocity, "a number in (0, inf)")
        self.coulomb_velocity: Array = np.broadcast_to(width, (self.n_joints,)).copy()

    @classmethod
    def from_urdf(
        cls, urdf: Urdf, joints: Sequence[str], friction: bool | Sequence[str] = True,
        coulomb_velocity: float | Array = STANDSTILL,
    ) -> "TorqueRegressor":  # fmt: skip
        """Build the regressor from a URDF (path or XML text) and the joints that move and whose torques are measured.

        `friction`: whether to add the columns of the drives, or the names of those to add; `coulomb_velocity`: one or
        (n_joints,), see above and `follow_velocity_noise`. Raises ModelError: see `RobotModel`; ParameterError:
        coulomb_velocity is not positive, or a name is that of no column; ShapeError: it is not one number, or one a
        joint.
        """
        return cls(RobotModel(urdf, joints), friction, coulomb_velocity)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        result, inertial = self._inertial(q, v, a)
        if self._columns:
            self._fill_friction(result, inertial, np.asarray(v), np.asarray(a))
        return result

    def _fill_friction(self, result: Array, inertial: Array, v: Array, a: Array) -> None:
        flat, down = result.reshape(-1), self.n_parameters + len(self._columns)  # step to the next joint's entries
        direction = np.tanh(v / self.coulomb_velocity)
        made = {"coulomb": direction, "viscous": v, "rotor": a}
        if "stribeck" in self._columns:
            made["stribeck"] = direction * np.exp(-np.square(v / STRIBECK_VELOCITY))
        if "load" in self._columns:
            made["load"] = direction * np.abs(inertial @ self._nominal_inertial)
        for index, name in enumerate(self._columns, self._n_inertial):
            if name in made:  # offsets are there already
                flat[index::down] = made[name]

    def follow_velocity_noise(self, deviation: Array) -> None:
        """Make the direction of friction as sharp as the velocities are known, with standard deviations `deviation`
        (n_joints,) [rad/s or m/s]; twins follow too.

        The expected sign of a velocity that is measured as v with Gaussian noise of standard deviation s is
        erf(v / (sqrt(2) s)); tanh(v / (1.2 s)) is that within 2.5 %. So the column does not chatter at standstill. What
        was learned before stays and fits a little less well: call it when the noise is known or has changed much.
        Raises ShapeError, NotFiniteError, ParameterError (negative): nothing changes then.
        """
        values = vector("deviation", deviation, self.n_joints)
        if (values < 0).any():
            raise ParameterError("deviation", float(values.min()), "at least 0")
        self.coulomb_velocity[:] = np.maximum(NOISE_WIDTH * values, STANDSTILL)

    def twin(self) -> "TorqueRegressor":
        """Return a regressor for another thread: it has memory of its own, and follows the same velocity noise."""
        twin = self.from_urdf(self.urdf, self.joints, self._columns)
        twin.coulomb_velocity = self.coulomb_velocity
        return twin

    def state(self) -> dict[str, Array]:
        """See Regressor."""
        return {
            "kind": np.asarray("torque"), "urdf": np.asarray(self.urdf),
            "friction": np.asarray(self._columns, dtype=np.str_), "coulomb_velocity": self.coulomb_velocity.copy(),
        }  # fmt: skip
