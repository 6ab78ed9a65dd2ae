"""Topics and services for controllers: efforts along a trajectory, and against gravity."""

from math import inf
from typing import Any

import numpy as np
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from icub_learning.dynamics import Motion, TorqueRegressor
from icub_learning.dynamics.control import FeedForward, complete, effort_limits
from icub_learning.dynamics.stream.records import StateRecord
from icub_learning.dynamics.stream.stream import InverseDynamicsStream
from icub_learning.errors import ParameterError, StateError
from icub_learning.nodes.common.conversions import doubles, set_stamp
from icub_learning.nodes.common.qos import STREAM
from icub_learning.nodes.common.threads.background import others_first
from icub_learning.nodes.common.trajectories import trajectory_points
from icub_learning.nodes.inverse_dynamics.learning_thread import LearningThread
from icub_learning_msgs.srv import PredictTrajectory

FOLLOW_EVERY = 20  # joint states between two updates of the usual variance


class ControllerEndpoints:
    """Serves efforts from the learned model to controllers; for output: joint_torque."""

    def __init__(
        self, node: LifecycleNode, stream: InverseDynamicsStream, regressor: Any, learner: LearningThread, urdf: str
    ) -> None:
        self._stream, self._regressor, self._learner = stream, regressor, learner
        node.create_service(PredictTrajectory, "~/predict_trajectory", self._predict)
        self._gravity, limits = None, np.zeros(0)
        if isinstance(regressor, TorqueRegressor):
            self._gravity = node.create_lifecycle_publisher(JointState, "~/gravity_effort", STREAM)
            limits = effort_limits(urdf, regressor.joints)
        self._feed_forward, self._count = FeedForward(limits), 0

    def publish(self, record: StateRecord) -> None:
        """Publish the efforts against gravity at a joint state, and update the usual variance of predictions."""
        if self._gravity is None:
            return
        self._count += 1
        if self._count % FOLLOW_EVERY == 0:
            self._feed_forward.follow(record.prediction.variance)
        if self._gravity.get_subscription_count():
            still = np.zeros_like(record.known.position)
            motion = Motion(record.stamp, record.known.position, still, still)
            # To stand still is another motion than that of now, of which the weights of the last moment say little.
            effort = self._feed_forward.effort(self._stream.predictor, self._stream.watch, motion, ahead=inf)
            message = JointState(name=list(self._regressor.joints))
            set_stamp(message.header.stamp, record.stamp)
            message.effort = doubles(effort.values)
            self._gravity.publish(message)

    async def _predict(self, request: PredictTrajectory.Request, response: PredictTrajectory.Response) -> str:
        """Answer with efforts at all points; after each of them the executor handles what else has come."""
        response.trajectory = request.trajectory
        if self._gravity is None:
            raise ParameterError("output", "wrench", "joint_torque: a wrench is no effort of joints")
        given, joints = trajectory_points(request.trajectory), self._regressor.joints
        names = given["joint_names"]
        if sorted(names) != sorted(joints):
            raise ParameterError("joint_names", names, f"the learned joints {list(joints)} in any order")
        if not any(given["positions"]):
            bound = "there in every point" if given["positions"] else "there: the trajectory has no points"
            raise ParameterError("positions", None, bound)
        order = [names.index(joint) for joint in joints]
        motion = (_ordered(field, given[field], order, names) for field in ("positions", "velocities", "accelerations"))
        positions, velocities, accelerations = motion
        times = given["times"]
        v, a = complete(np.array(times), positions, velocities, accelerations)
        predictor, limited, back = self._learner.predictor, 0, np.argsort(order)
        for point, ahead, *state in zip(response.trajectory.points, times, positions, v, a, strict=True):
            try:
                effort = self._feed_forward.effort(predictor, self._stream.watch, Motion(0, *state), ahead=ahead)
            except ParameterError as error:
                raise StateError(f"points[{len(response.rigid)}] at {ahead:g} s: {error}") from None
            point.effort = doubles(effort.values[back])
            response.std.extend(effort.deviation[back].tolist())
            response.rigid.append(effort.rigid)
            limited += effort.limited
            await others_first()
        return f"{len(positions)} points, {sum(response.rigid)} by rigid bodies alone, {limited} at a limit"


def _ordered(field: str, rows: list[list[float]] | None, order: list[int], names: list[str]) -> Any:
    """Return a field of all points (n, n_joints) in the order of the learner; None if no point has it. `names`: the
    joints in the order of the points."""
    if rows is None:
        return None
    for index, row in enumerate(rows):
        if len(row) != len(order):
            raise ParameterError(f"points[{index}].{field}", len(row), f"{len(order)} numbers, as in the other points")
    values = np.array(rows)
    for index, place in np.argwhere(~np.isfinite(values))[:1]:
        raise ParameterError(f"points[{index}].{field} of {names[place]}", float(values[index, place]), "finite")
    return values[:, order]
