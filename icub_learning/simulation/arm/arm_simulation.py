"""The simulated arm: physics, controller, effects and sensors, in steps of one millisecond."""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
import pinocchio
from numpy.typing import ArrayLike

from icub_learning.arrays import Array
from icub_learning.errors import SimulationError
from icub_learning.simulation.arm import effects
from icub_learning.simulation.arm.arm_model import ROTOR_INERTIA, ArmModel
from icub_learning.simulation.arm.disturbances import Payload, Push
from icub_learning.simulation.arm.motions import Blend, Hold, Motion, Reference, task_motions
from icub_learning.simulation.arm.readings import Sensors, Truth
from icub_learning.simulation.arm.settings import TASKS, TIME_STEP, TIME_STEP_NS, SimulationSettings
from icub_learning.simulation.arm.trajectory import TrajectoryMotion

BANDWIDTH = 80.0  # [rad/s] bandwidth of the computed torque controller, which has three equal poles
BLEND_SPEED = 0.7  # [rad/s] mean speed of the joint that moves farthest in a change of task
MIN_BLEND = 1.0  # [s] duration of a change of task
MAX_DEPTH = 8  # largest number of changes of motion that overlap in time
_BLOCK = 100  # time steps whose references are computed at once: 20 take 0.15 ms, 100 take 0.28 ms


class Body(NamedTuple):
    """Views of one body in MuJoCo's data: its state in the world, and what is applied to it."""

    position: Array  # (3,) [m]
    rotation: Array  # (9,) matrix, row by row
    quaternion: Array  # (4,) w x y z
    centre: Array  # (3,) centre of mass [m]
    applied: Array  # (6,) force [N] and torque about the centre of mass [N m]

    @staticmethod
    def of(data: mujoco.MjData, number: int) -> "Body":
        """Return the views of the body with this index in the model."""
        return Body(*(rows[number] for rows in (data.xpos, data.xmat, data.xquat, data.xipos, data.xfrc_applied)))


class Step(NamedTuple):
    """What the readings of one step are made of, beside MuJoCo's data, which keep their values until the next step."""

    stamp: int
    position: Array
    velocity: Array
    encoded: tuple[Array, Array]  # position and velocity by the encoders
    cable_wrench: Array
    push: Array
    drift: Array
    noise: Array  # (6,) standard normal numbers of the sensor's noise
    payload: tuple[float, Array]  # mass and position


class ArmSimulation:
    """An arm of the iCub that performs tasks or trajectories under a computed torque controller.

    The reading after a step belongs to the state before it: positions, velocities, the acceleration that leads to the
    next state, and the wrench at the same instant. Equal settings and commands give equal readings.

    Attributes:
        settings, arm: settings of the simulation; names and kinematics of the arm.
        task: the current task, or "trajectory".
    """

    def __init__(self, settings: SimulationSettings | None = None) -> None:
        self.settings = settings if settings is not None else SimulationSettings()
        self.arm, self.task = ArmModel(self.settings.side), self.settings.task
        self._model = self.arm.physics()
        self._data = mujoco.MjData(self._model)
        self._payload = Payload(self._model)
        self._push = Push()
        names = self.arm.hand, self.arm.sensor_frame, self.arm.shoulder, self.arm.elbow
        hand, sensor, shoulder, elbow = (self._model.body(name).id for name in names)
        bodies = (Body.of(self._data, number) for number in (hand, sensor, shoulder, elbow))
        self._hand, self._sensor, self._shoulder, self._elbow = bodies
        self._steps = 1  # a stamp of 0 means "not set" in ROS
        self._motions = task_motions(self.settings)
        self._motion: Motion = self._motions.get(self.task) or Hold(np.mean(self.arm.limits, axis=0))
        self._compute_references()
        self._data.qpos[:], self._data.qvel[:], _ = self._reference()
        self._make_effects()
        relaxed = mujoco.MjData(self._model)
        relaxed.qpos[:] = np.mean(self.arm.limits, axis=0)
        mujoco.mj_kinematics(self._model, relaxed)
        self._cable.relax(*(Body.of(relaxed, number)[:3] for number in (sensor, elbow)))
        self._integral = np.zeros(len(self._data.qpos))  # [rad s] integral of the tracking errors
        self._newest: Step | None = None

    def _make_effects(self) -> None:
        settings = self.settings
        rng = np.random.default_rng([settings.seed, 100])
        self._cross_talk = effects.cross_talk(settings.cross_talk, rng)
        self._drift = effects.SensorDrift(settings.drift, rng)
        # White noise of the amplifier [N, N m].
        self._noise, self._rng = settings.noise * effects.FULL_SCALE / effects.FULL_SCALE[0], rng
        self._normals = rng.standard_normal((1000, 2, 6))
        self._encoders = effects.Encoders(settings.encoder_bits, self._data.qpos.copy(), self._data.qvel.copy())
        self._cable = effects.CableBundle(
            settings.cable_stiffness, settings.cable_bending_stiffness, settings.cable_hysteresis, settings.side
        )

    @property
    def time(self) -> float:
        """Simulated time of the next reading [s]."""
        return self._steps * TIME_STEP

    @property
    def stamp(self) -> int:
        """Simulated time of the next reading [ns]."""
        return self._steps * TIME_STEP_NS

    @property
    def payload(self) -> tuple[float, Array]:
        """Mass of the payload [kg], and its position (3,) in the frame of the hand [m]."""
        return self._payload.mass, self._payload.position

    def sensors(self) -> Sensors:
        """Return the sensors' readings at the last step. Raises SimulationError before the first one."""
        step, data = self._last(), self._data
        # Drives measure the torque behind the rotors, and compensate the friction in the gears.
        friction = effects.joint_friction(self.settings.joint_friction, step.velocity)
        effort = data.qfrc_applied - ROTOR_INERTIA * data.qacc + friction
        wrench = self._cross_talk @ data.sensordata + step.drift + self._noise * step.noise
        return Sensors(step.stamp, *step.encoded, effort, wrench)

    def truth(self) -> Truth:
        """Return the true values at the last step. Raises SimulationError before the first one."""
        step, data = self._last(), self._data
        wrench = data.sensordata.copy()
        return Truth(
            stamp=step.stamp, position=step.position, velocity=step.velocity, acceleration=data.qacc.copy(),
            wrench=wrench, rigid_wrench=wrench - step.cable_wrench, cable_wrench=step.cable_wrench, drift=step.drift,
            payload_mass=step.payload[0], payload_position=step.payload[1], push=step.push,
            hand_position=self._hand.position.copy(),
        )  # fmt: skip

    def _last(self) -> Step:
        if self._newest is None:
            raise SimulationError("there is no reading before the first step", name="step", value=0, bound="at least 1")
        return self._newest

    def set_task(self, task: str) -> None:
        """Change smoothly to one of TASKS. Raises SimulationError: an unknown task, or too many changes under way."""
        if task not in TASKS:
            message = f"unknown task {task!r}: must be one of {', '.join(TASKS)}"
            raise SimulationError(message, name="task", value=task, bound=", ".join(TASKS))
        if task == self.task and task != "hold":
            return
        q = self._reference()[0]
        new = self._motions.get(task) or Hold(q)
        target = new(np.array([self.time]))[0][0]
        self._blend_to(new, max(MIN_BLEND, float(np.abs(target - q).max()) / BLEND_SPEED))
        self.task = task

    def command_trajectory(
        self, joint_names: Sequence[str], times: ArrayLike, positions: ArrayLike, velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """Follow a trajectory from now on and hold its last point; see TrajectoryMotion for arguments and errors."""
        points = joint_names, times, positions, velocities, accelerations
        trajectory = TrajectoryMotion(self.arm, self.time, self._reference()[0], *points)
        self._blend_to(trajectory, min(trajectory.first_point, MIN_BLEND))
        self.task = "trajectory"

    def attach_payload(self, mass: float, position: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Attach a ball of `mass` [kg] at `position` (3,) [m] in the frame of the hand; 0 removes it. See Payload."""
        self._payload.attach(mass, position)

    def push(self, force: ArrayLike, duration: float) -> None:
        """Push the hand with `force` (3,) [N], in the axes of the root, for `duration` [s] from now on. See Push."""
        self._push.begin(force, duration, self.time)

    def step(self) -> None:
        """Advance by one millisecond."""
        model, data = self._model, self._data
        q, v = data.qpos.copy(), data.qvel.copy()
        mujoco.mj_step1(model, data)
        cable_wrench, pushed = self._apply_cable(), self._apply_push()
        data.qfrc_applied[:] = self._control(q, v)
        mujoco.mj_step2(model, data)
        if self._steps % len(self._normals) == 0:  # a sequence that does not depend on commands
            self._normals = self._rng.standard_normal(self._normals.shape)
        drift_normal, noise = self._normals[self._steps % len(self._normals)]
        drift, encoded = self._drift.step(drift_normal), self._encoders.step(q, v)
        self._newest = Step(self.stamp, q, v, encoded, cable_wrench, pushed, drift, noise, self.payload)
        self._row += 1
        self._steps += 1

    def _reference(self) -> Reference:
        if self._row == _BLOCK:
            self._drop_finished_blends()
            self._compute_references()
        q, v, a = self._block
        return q[self._row], v[self._row], a[self._row]

    def _blend_to(self, new: Motion, duration: float) -> None:
        """Change smoothly to a motion. Raises SimulationError if too many earlier changes have not finished."""
        self._drop_finished_blends()
        blend = Blend(self._motion, new, self.time, duration)
        if blend.depth > MAX_DEPTH:
            message = f"{MAX_DEPTH} changes of motion are still under way: wait until they are done"
            raise SimulationError(message, name="motion", value=blend.depth, bound=f"at most {MAX_DEPTH} at once")
        self._motion = blend
        self._compute_references()

    def _drop_finished_blends(self) -> None:
        while isinstance(self._motion, Blend) and self.time >= self._motion.end:
            self._motion = self._motion.new

    def _compute_references(self) -> None:
        self._block = self._motion((self._steps + np.arange(float(_BLOCK))) * TIME_STEP)
        self._row = 0

    def _control(self, q: Array, v: Array) -> Array:
        """Return the motor torques (7,) that make the rigid arm without payload follow the reference."""
        to_q, to_v, to_a = self._reference()
        error = to_q - q
        self._integral += TIME_STEP * error  # compensates for what the model lacks: cables and payload
        a = to_a + 3 * BANDWIDTH * (to_v - v) + 3 * BANDWIDTH**2 * error + BANDWIDTH**3 * self._integral
        robot = self.arm.kinematics
        return pinocchio.rnea(robot.model, robot.data, q, v, a).copy()

    def _apply_cable(self) -> Array:
        """Apply the forces of the cable bundle at its ends, and return their part of the wrench at the sensor, (6,)."""
        sensor, elbow, shoulder = self._sensor, self._elbow, self._shoulder
        point, force, torque = self._cable.step(sensor[:3], elbow[:3])
        elbow.applied[:3], shoulder.applied[:3] = force, -force
        elbow.applied[3:] = torque + _cross(point - elbow.centre, force)
        shoulder.applied[3:] = -(torque + _cross(point - shoulder.centre, force))
        axes, wrench = sensor.rotation.reshape(3, 3), np.empty(6)
        wrench[:3] = force @ axes
        wrench[3:] = (torque + _cross(point - sensor.position, force)) @ axes
        return np.negative(wrench)

    def _apply_push(self) -> Array:
        """Apply the push at the origin of the hand's frame, and return its force in the axes of the root, (3,) [N]."""
        hand, force = self._hand, self._push.force(self.time)
        hand.applied[:3] = force
        hand.applied[3:] = _cross(hand.position - hand.centre, force)
        return force


def _cross(a: Array, b: Array) -> Array:
    """Return the cross product; np.cross takes ten times as long for single vectors."""
    result = np.empty(3)
    mujoco.mju_cross(result, a, b)
    return result
