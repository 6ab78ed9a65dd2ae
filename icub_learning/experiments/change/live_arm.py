"""The simulated arm and a learner in one process: every sample passes through the node's stream, faster than ROS."""

from array import array
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.dynamics import assembly
from icub_learning.dynamics.changes.monitor import ChangeMonitor
from icub_learning.dynamics.settings import Settings
from icub_learning.dynamics.stream.records import External
from icub_learning.robots import find_urdf
from icub_learning.simulation.arm.arm_simulation import ArmSimulation
from icub_learning.simulation.arm.effects import Encoders
from icub_learning.simulation.arm.settings import STEPS_PER_SECOND, SimulationSettings

RATE = 200  # rate of the samples [Hz]
STEPS = STEPS_PER_SECOND // RATE


class LiveArm:
    """A simulated iCub arm whose wrench is learned while it moves, with the settings that are shipped.

    Its motion is one of TASKS; `simulation` can be commanded between calls of `run`. `others` are settings of further
    learners that see the same samples, by name; their errors are kept too. `on_pairs` is called with what the first
    learner's stream has paired. `added` (6,) [N, N m] is added to what the sensor measures.
    """

    def __init__(self, seed: int, task: str = "circle_xz", **others: dict[str, Any]) -> None:
        self.simulation = ArmSimulation(SimulationSettings(seed=seed, task=task))
        arm = self.simulation.arm
        shipped = Settings(
            urdf=find_urdf("icub"), joints=arm.joint_names, sensor=arm.sensor, load_link=arm.hand,
            velocity_delay=Encoders.DELAY, seed=seed,
        )  # fmt: skip
        self.estimators, self.streams = {}, {}
        for name, changed in {"shipped": {}, **others}.items():
            settings = replace(shipped, **changed)
            regressor = assembly.make_regressor(settings)
            self.estimators[name] = assembly.make_estimator(settings, regressor)
            self.streams[name] = assembly.make_stream(settings, regressor, self.estimators[name])
        monitor = self.streams["shipped"].watch
        assert isinstance(monitor, ChangeMonitor)
        self.monitor = monitor  # monitor of the first learner
        self.moments: list[tuple[float, str]] = []  # time [s] of each change of the monitor's phase, and new phase
        self.on_pairs: Callable[[list[External]], object] | None = None
        self.added: Array = np.zeros(6)
        self._times, self._seen = array("d"), array("d")
        self._errors = {name: array("d") for name in self.streams}

    def run(self, seconds: float) -> None:
        joints = self.simulation.arm.joint_names
        for _ in range(round(seconds * RATE)):
            for _ in range(STEPS):
                self.simulation.step()
            shown = self.simulation.sensors()
            self._times.append(shown.stamp * 1e-9)
            measured = shown.wrench + self.added
            for name, stream in self.streams.items():
                record = stream.joint_state(shown.stamp, joints, shown.position, shown.velocity)
                self._errors[name].extend((measured - record.prediction.total).tolist())
                stream.measurement(shown.stamp, measured)
                paired = stream.pair()
                if self.on_pairs is not None and name == "shipped":
                    self.on_pairs(paired)
                stream.learn()
            load, phase = self.monitor.load, self.monitor.phase
            mass, deviation = (0.0, 0.0) if load is None else (load.mass, load.mass_deviation)
            self._seen.extend((mass, deviation, self.monitor.contact, self.streams["shipped"].counts.learned))
            if not self.moments or self.moments[-1][1] != phase:
                self.moments.append((self._times[-1], phase))

    def seen(self) -> tuple[Array, Array]:
        """Return times (n,) [s] and (n, 4): mass of the load, its deviation [kg], contact (0 or 1), samples learned."""
        return np.frombuffer(self._times).copy(), np.frombuffer(self._seen).reshape(-1, 4).copy()

    def errors(self, begin: float, end: float, name: str = "shipped") -> Array:
        """Return measured minus predicted wrenches (n, 6) [N, N m] between two times [s]."""
        times = np.frombuffer(self._times)
        return np.frombuffer(self._errors[name]).reshape(-1, 6)[(times >= begin) & (times < end)]

    def force_error(self, begin: float, end: float, name: str = "shipped") -> float:
        """Return the RMSE of the force [N] between two times [s]."""
        return float(np.sqrt(np.mean(self.errors(begin, end, name)[:, :3] ** 2)))

    def first(self, phase: str, since: float) -> float:
        """Return the time from `since` until the monitor first sees `phase` [s]; infinite if it never does."""
        spans = zip(self.moments, [*(begin for begin, _ in self.moments[1:]), np.inf], strict=False)
        seen = (max(begin - since, 0.0) for (begin, shown), end in spans if shown == phase and end > since)
        return next(seen, float("inf"))

    def phases(self, begin: float, end: float) -> set[str]:
        """Return the phases that the monitor saw between two times [s]."""
        earlier = sum(time < begin for time, _ in self.moments)
        return {phase for time, phase in self.moments[max(0, earlier - 1) :] if time < end}
