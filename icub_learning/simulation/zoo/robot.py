"""One robot of the zoo: its parts, and recordings of it together with the truth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from icub_learning.arrays import Array, integer, real
from icub_learning.recording.recording import Recording
from icub_learning.simulation.zoo.bodies import TrueBodies
from icub_learning.simulation.zoo.drives import Drives
from icub_learning.simulation.zoo.excitation import Excitation, Path
from icub_learning.simulation.zoo.sensing import Clock, JointSensors, OutputSensor, low_pass

WIDEST = 2.0  # [rad] largest distance of a joint from the middle of its range
SLOWEST_GRID = 1000.0  # [Hz] lowest rate at which filters are computed


@dataclass(frozen=True, eq=False)
class ZooRecording:
    """A recording of a robot of the zoo, and the truth behind it at the instant of each of its n joint states."""

    recording: Recording  # readings of the sensors
    position: Array  # (n, n_joints) true positions at the instants of the samples [rad]
    velocity: Array  # (n, n_joints) true velocities at these instants [rad/s]
    acceleration: Array  # (n, n_joints) true accelerations at these instants [rad/s^2]
    # (n, n_outputs) true joint torques [N m, or A] or wrench [N, N m], without errors of the sensor
    outputs: Array
    parameters: dict[str, float]  # true parameters by the names that the regressors give them
    # the robot's arguments of `dynamics.assembly.Settings`: urdf, joints, output, sensor and, if no velocities are
    # measured, velocity_source
    settings: dict[str, Any]
    output_variance: Array  # (n_outputs,) variance of the errors of a single measurement of the outputs

    @property
    def mere_noise(self) -> tuple[bool, ...]:
        """Whether the errors of an output's measurements vary more than the output: nothing is learned from them."""
        return tuple((self.outputs.var(axis=0) < self.output_variance).tolist())


@dataclass(frozen=True)
class ZooRobot:
    """A complete robot of the zoo: seeds change its motion and noise, but not the robot."""

    name: str  # name of the robot; its inertial parameters are drawn from it
    urdf: str = field(repr=False)  # path or XML text
    joints: tuple[str, ...]  # names of the joints
    excitation: Excitation  # how it moves
    clock: Clock  # when it is sampled
    joint_sensors: JointSensors  # how its joints are measured
    output_sensor: OutputSensor  # how its outputs are measured
    drives: Drives | None = None  # friction and gears of its joints; None where a wrench is measured
    sensor: str = ""  # fixed joint of the force/torque sensor; "": joint torques are the outputs
    # share of the range of each joint that the motion uses, one value or one per joint; 0: it stands still
    reach: float | Sequence[float] = 0.8
    spread: float = 0.15  # how much its bodies differ from the URDF's, see TrueBodies

    @cached_property
    def bodies(self) -> TrueBodies:
        """Its rigid bodies."""
        sensor = self.sensor or None
        return TrueBodies(self.urdf, self.joints, sensor, self.spread, np.random.default_rng(crc32(self.name.encode())))

    @property
    def settings(self) -> dict[str, Any]:
        """The robot's arguments of `dynamics.assembly.Settings`."""
        found: dict[str, Any] = {"urdf": self.urdf, "joints": self.joints}
        found |= {"output": "wrench", "sensor": self.sensor} if self.sensor else {"output": "joint_torque"}
        return found if self.joint_sensors.velocity else {**found, "velocity_source": "estimated"}

    @property
    def parameters(self) -> dict[str, float]:
        """Its true parameters by the names that the regressors give them, for torques (not A) and wrenches [SI]."""
        return {**self.bodies.parameters, **(self.drives.parameters(self.joints) if self.drives else {})}

    def record(self, duration: float = 60.0, seed: int = 0) -> ZooRecording:
        """Return a recording of `duration` [s]; each seed has its own motion. Raises ParameterError: one of them is
        outside its range."""
        duration = real("duration", duration, 0.1, 1e5)
        rng = np.random.default_rng([crc32(self.name.encode()), integer("seed", seed, 0)])
        path = self.excitation.path(*self.reached(), duration, rng)
        instants = self.clock.instants(duration, rng)
        motion = path(instants)
        outputs = self._outputs(path, instants, motion)
        stamps = self.clock.stamps(instants, rng)
        sources = self.clock.sources(len(instants), rng)
        fields = {"position": self.joint_sensors.positions(motion[0], rng)[sources]}
        if (sensors := self.joint_sensors).velocity:
            velocity = motion[1]
            if sensors.delays_velocity:
                velocity = self._from_past(
                    instants - sensors.velocity_delay,
                    lambda grid, step: low_pass(path(grid)[1], sensors.velocity_bandwidth, step),
                )
            fields["velocity"] = sensors.velocities(velocity, rng)[sources]
        fields["joint_arrivals"] = self.clock.arrivals(stamps, rng)
        filtered, bandwidth = outputs, self.output_sensor.bandwidth
        if bandwidth:
            filtered = self._from_past(
                instants, lambda at, step: low_pass(self._outputs(path, at, path(at)), bandwidth, step)
            )
        shown = self.output_sensor.measure(filtered, instants, rng)
        if self.sensor:
            later = rng.uniform(0.0, 5e-4, len(instants))  # [s] delay after the joint states, of a separate sender
            wrench_stamps = np.round((instants + later) * 1e9).astype(np.int64)
            arrivals = np.maximum.accumulate(np.maximum(wrench_stamps, fields["joint_arrivals"]))
            fields |= {"wrench": shown, "wrench_stamps": wrench_stamps, "wrench_arrivals": arrivals}
        else:
            fields["effort"] = shown[sources]
        recording = Recording(joint_names=self.joints, joint_stamps=stamps, **fields)
        return ZooRecording(recording, *motion, outputs, self.parameters, self.settings, self.output_sensor.variance)

    def reached(self) -> tuple[Array, Array]:
        """Return the lowest and the highest position (n,) of each joint that the excitation may reach [rad]."""
        low, high = np.maximum(self.bodies.low, -np.pi), np.minimum(self.bodies.high, np.pi)
        middle, half = (low + high) / 2, np.minimum((high - low) / 2, WIDEST) * self.reach
        return middle - half, middle + half

    def _outputs(self, path: Path, instants: Array, motion: tuple[Array, Array, Array]) -> Array:
        """Return the true outputs at the instants of the samples; with an elastic gear, from the motion before them."""
        outputs = transmitted = self.bodies.outputs(*motion)
        if (drives := self.drives) is None:
            return outputs
        if drives.gear_frequency:
            transmitted = self._from_past(
                instants, lambda grid, step: drives.transmitted(self.bodies.outputs(*path(grid)), step)
            )
        return drives.efforts(*motion, outputs, transmitted)

    def _from_past(self, times: Array, values: Callable[[Array, float], Array]) -> Array:
        """Return `values`, a function of equally spaced times and their step [s], interpolated at `times` (n,)."""
        step = 1 / max(SLOWEST_GRID, self.clock.rate)
        grid = np.arange(0.0, times[-1] + 2 * step, step)
        return np.column_stack([np.interp(times, grid, column) for column in values(grid, step).T])
