"""Tracking errors of the simulated arm without a model, with the URDF's rigid bodies, and with what was learned."""

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import Motion, TorqueRegressor, assembly
from icub_learning.dynamics.control import FeedForward, effort_limits
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import SampleError
from icub_learning.robots import find_urdf
from icub_learning.simulation import Sensors, SimulationSettings
from icub_learning.simulation.arm.controlled_arm import BANDWIDTH, DAMPING, ControlledArm, feedback
from icub_learning.simulation.arm.effects import Encoders
from icub_learning.simulation.arm.motions import Reference

RATE = 500  # rate of the control loop [Hz]
LEARNING, SETTLING, JUDGED = 40.0, 4.0, 10.0  # durations of learning, of settling and of what is judged [s]
LOAD = 0.5  # mass of the load [kg]
MODELS = ("none", "nominal", "learned")


class ControlLoop:
    """An arm under feedback with the torques of a model added, and a learner (as shipped) of the motors' torques.

    With `full` the model gets the measured motion, with the feedback as an acceleration (computed torque), else the
    reference (feed-forward).
    """

    def __init__(self, seed: int, full: bool = False) -> None:
        self.arm = ControlledArm(SimulationSettings(seed=seed, task="circle_xz"), 1000 // RATE)
        self._names = self.arm.arm.joint_names
        self.settings = Settings(
            urdf=find_urdf("icub"), joints=self._names, output="joint_torque", velocity_delay=Encoders.DELAY, seed=seed
        )
        regressor = assembly.make_regressor(self.settings)
        self.stream = assembly.make_stream(self.settings, regressor, assembly.make_estimator(self.settings, regressor))
        self._feed_forward = FeedForward(effort_limits(self.settings.urdf, self._names))
        self._nominal = TorqueRegressor.from_urdf(self.settings.urdf, self._names, friction=False)
        self._feedback = feedback(self.arm)
        self._full, self._count = full, 0
        self.use("none")

    def use(self, model: str) -> None:
        """Add the torques of one of MODELS to the feedback."""
        torques = {"nominal": self._rigid, "learned": self._learned}.get(model)

        def control(q: Array, v: Array, reference: Reference) -> Array:
            to_q, to_v, to_a = reference
            if torques is None:
                return self._feedback(q, v, reference)
            if self._full:
                return torques(q, v, to_a, 2 * DAMPING * BANDWIDTH * (to_v - v) + BANDWIDTH**2 * (to_q - q))
            return self._feedback(q, v, reference) + torques(to_q, to_v, to_a, np.zeros_like(to_a))

        self.arm.controller = control

    def _rigid(self, q: Array, v: Array, a: Array, correction: Array) -> Array:
        """Return rigid-body torques for a motion with the acceleration `correction` of the feedback added."""
        return self._nominal(q, v, a + correction) @ self._nominal.nominal_parameters

    def _learned(self, q: Array, v: Array, a: Array, correction: Array) -> Array:
        added = correction if self._full else None
        return self._feed_forward.effort(self.stream.predictor, self.stream.watch, Motion(0, q, v, a), added).values

    def step(self) -> Sensors:
        """Advance by one period of the loop, and learn; return what the sensors showed at its end."""
        for _ in range(1000 // RATE):
            self.arm.step()
        shown = self.arm.sensors()
        try:
            record = self.stream.joint_state(shown.stamp, self._names, shown.position, shown.velocity, self.arm.torque)
        except SampleError:
            return shown
        self.stream.pair()
        self.stream.learn()
        self._count += 1
        if self._count % 20 == 0:
            self._feed_forward.follow(record.prediction.variance)
        return shown

    def run(self, seconds: float) -> float:
        """Move and learn for some time; return the RMS tracking error over all joints [rad]."""
        errors = []
        for _ in range(round(seconds * RATE)):
            self.step()
            errors.append(self.arm.error.copy())
        return float(np.sqrt(np.mean(np.square(errors))))


def run_seed(seed: int, full: bool = False) -> dict[str, float]:
    """Return the RMS tracking errors [rad] of each model, without and with a load."""
    loop = ControlLoop(seed, full)
    loop.use("nominal")
    loop.run(LEARNING)
    errors = {}
    for load in (0.0, LOAD):
        loop.arm.attach_payload(load)
        loop.use("learned" if load else "nominal")
        loop.run(SETTLING)
        for model in MODELS:
            loop.use(model)
            loop.run(SETTLING)
            errors[f"{model}, {load:g} kg"] = loop.run(JUDGED)
    return errors
