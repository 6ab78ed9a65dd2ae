"""The wrench at a force/torque sensor, linear in the inertial parameters of the bodies beyond it."""

from collections.abc import Sequence

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics.regressors.regressor import DOUBTED, OFFSETS, Regressor
from icub_learning.dynamics.regressors.robot_model import RobotModel
from icub_learning.errors import ParameterError
from icub_learning.robots import Urdf

DIRECTIONS = ("parent_to_child", "child_to_parent")
WRENCH_AXES: tuple[str, ...] = ("force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z")
AXES = ("fx", "fy", "fz", "tx", "ty", "tz")


class WrenchRegressor(Regressor):
    """Phi(q, v, a) with wrench = Phi @ parameters, for a force/torque sensor at a fixed joint of a fixed-base robot.

    The wrench is what the link before the sensor applies to the link after it, at the origin of the sensor joint and
    in the axes of the link after it (its child): a robot at rest shows the weight it carries, pointing up. It equals
    the force of that joint in Pinocchio's recursive Newton-Euler algorithm (`data.f`), and is "parent_to_child" in
    the words of SDF (`measure_direction`). A sensor that shows the reaction to it is "child_to_parent": the regressor
    then has the opposite sign, and the parameters keep their meaning.

    Parameters: ten for each body beyond the sensor, bodies in the order of the kinematic tree and named by the link
    that the joint (for the first one: the sensor) moves, then m [kg], mcx, mcy, mcz [kg m] (mass times centre of
    mass), Ixx, Ixy, Iyy, Ixz, Iyz, Izz [kg m^2] (about the origin of the link's joint frame, in its axes). Links that
    a fixed or held joint ties to a body are part of it, carried into its frame. With offset, then the six offsets of
    the sensor, "offset.fx" to "offset.tz" [N, N m], in the sense of the measured wrench: raw sensors show tens of
    newtons that no mass explains. With gain, then the 36 errors of its gain matrix row by row, "gain.fx.fx",
    "gain.fx.fy" to "gain.tz.tz" (shown axis, true axis; [1], [1/m], [m]).

    A sensor of gain 1 + G that carries the wrench w shows w + G w, linear in G if w is known. Here w is what the URDF's
    masses would cause: errors of the masses enter only multiplied by those of the gain. The regularization of G is
    that of an inertial parameter times the nominal ones' squared length: of what G does to the wrench as other masses
    would do it too (a common factor, to begin with), it leaves all but a sixtieth to the masses, light or heavy.

    Joints before the sensor matter as well (they turn gravity, and move everything beyond); list all that move. Joints
    that are not listed are held at 0, clipped into their limits.

    Source: the inverse dynamics are linear in the inertial parameters (Atkeson, An and Hollerbach, "Estimation of
    inertial parameters of manipulator loads and links", 1986). The sensor is computed as a joint of six degrees of
    freedom at rest, whose rows in Pinocchio's joint torque regressor are the regressor of its wrench.

    Attributes:
        joints, known_joints: (n_joints) names, the order of q, v and a; names of all joints that the URDF has.
        urdf: XML text of the robot, without geometry.
        frame, sensor: the link in whose axes the wrench is given, and the name of the sensor's joint.
        direction: "parent_to_child" or "child_to_parent".
        n_joints, n_outputs, n_parameters: sizes; n_outputs is 6.
        output_names: "force.x" to "torque.z" [N, N m].
        parameter_names: "link.parameter", as above.
        nominal_parameters: (n_parameters,) from the URDF; offsets and errors of the gain 0.
        relative_regularization: (n_parameters,) by how much each parameter is regularized, relative to an inertial one:
            less where nothing speaks against it before data come, more for effects that a robot may not have.
        offset_indices: (6,) index of the parameter that is the offset of each output; () without.
    """

    sensor: str

    def __init__(
        self, model: RobotModel, sensor: str, direction: str = DIRECTIONS[0], offset: bool = True, gain: bool = False
    ) -> None:
        if direction not in DIRECTIONS:
            raise ParameterError("direction", direction, f"one of {', '.join(DIRECTIONS)}")
        self.sensor, self.frame = sensor, model.body_names[model.sensor_id - 1]
        self.direction, self._offset, self._gain = direction, offset, gain
        own = dict.fromkeys((f"offset.{axis}" for axis in AXES), OFFSETS) if offset else {}
        offsets, columns = range(len(own)), (f"gain.{shown}.{true}" for shown in AXES for true in AXES)
        own |= dict.fromkeys(columns, DOUBTED) if gain else {}
        bodies = list(model.model.subtrees[model.sensor_id])
        # Pinocchio numbers a subtree without gaps, so both ranges are slices.
        first = model.model.joints[model.sensor_id].idx_v
        rows = np.s_[first : first + 6, 10 * (bodies[0] - 1) : 10 * bodies[-1]]
        super().__init__(model, bodies, rows, WRENCH_AXES, own, offsets)
        if gain:  # as masses a common factor e costs e^2 |nominal|^2, and as gain 6 e^2, without a unit of its own
            self.relative_regularization[-36:] *= self._nominal_inertial @ self._nominal_inertial or 1.0

    @classmethod
    def from_urdf(
        cls, urdf: Urdf, joints: Sequence[str], sensor: str, direction: str = DIRECTIONS[0], offset: bool = True,
        gain: bool = False,
    ) -> "WrenchRegressor":  # fmt: skip
        """Build the regressor from a URDF (path or XML text), the joints that move, and the fixed joint of the sensor.

        `direction`: as the wrench is measured, see above; `offset`, `gain`: whether to add the six offsets of the
        sensor, and the 36 errors of its gain matrix. Raises ModelError: see `RobotModel`; ParameterError: the direction
        is none of the two.
        """
        return cls(RobotModel(urdf, joints, sensor), sensor, direction, offset, gain)

    def twin(self) -> "WrenchRegressor":
        """Return a regressor for another thread: the same, with memory of its own."""
        return self.from_urdf(self.urdf, self.joints, self.sensor, self.direction, self._offset, self._gain)

    def __call__(self, q: Array, v: Array, a: Array) -> Array:
        result, inertial = self._inertial(q, v, a)
        if self.direction == "child_to_parent":
            np.negative(inertial, out=inertial)
        if self._gain:
            wrench, gain = inertial @ self._nominal_inertial, result[:, -36:]
            for axis in range(6):
                gain[axis, 6 * axis : 6 * axis + 6] = wrench
        return result

    def state(self) -> dict[str, Array]:
        """See Regressor."""
        return {
            "kind": np.asarray("wrench"), "urdf": np.asarray(self.urdf), "sensor": np.asarray(self.sensor),
            "direction": np.asarray(self.direction),
            "sensor_columns": np.asarray(["offset"] * self._offset + ["gain"] * self._gain, dtype=np.str_),
        }  # fmt: skip
