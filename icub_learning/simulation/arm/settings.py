"""All settings of the simulated arm: default, range, unit and description of each."""

from dataclasses import dataclass
from typing import Any

from icub_learning import arrays
from icub_learning.errors import ParameterError
from icub_learning.settings import Validated, setting

TIME_STEP_NS = 1_000_000  # [ns] time step of the physics
TIME_STEP = TIME_STEP_NS * 1e-9  # [s] time step of the physics
STEPS_PER_SECOND = 1_000_000_000 // TIME_STEP_NS
TASKS = ("circle_xy", "circle_xz", "random", "hold")


@dataclass(frozen=True)
class SimulationSettings(Validated):
    """Settings of the simulation; 0 switches an effect off. Raises ParameterError: a value is outside its range."""

    side: str = setting("right", "which arm of the iCub moves", choices=("right", "left"))
    task: str = setting("circle_xy", "initial task of the arm", choices=TASKS)
    seed: int = setting(0, "seed of all random numbers; equal seeds give equal data", low=0, high=2**31 - 1)
    circle_radius: float = setting(0.10, "radius of the hand's circles", unit="m", low=0.01, high=0.10)
    circle_speed: float = setting(0.6, "mean speed of the hand on its circle", unit="m/s", low=0.01, high=0.8)
    circle_wander: float = setting(
        0.01, "amplitude of slow changes of the circle's centre; posture and speed too", unit="m", low=0.0, high=0.02
    )
    cable_stiffness: float = setting(
        200.0, "cables across the elbow: force per elongation between their clamps", unit="N/m", low=0.0, high=2000.0
    )
    cable_bending_stiffness: float = setting(
        1.0, "cable bundle across the elbow: torque per angle between its clamps", unit="N m/rad", low=0.0, high=5.0
    )
    cable_hysteresis: float = setting(
        0.3, "cable bundle: friction between its strands, relative to its elastic force", low=0.0, high=1.0
    )
    cross_talk: float = setting(
        0.01, "force/torque sensor: largest share of full scale that an axis adds to another", low=0.0, high=0.1
    )
    drift: float = setting(
        0.2, "force/torque sensor: standard deviation of its slow drift", unit="N", low=0.0, high=10.0
    )
    noise: float = setting(
        0.6, "force/torque sensor: standard deviation of its white noise", unit="N", low=0.0, high=10.0
    )
    encoder_bits: int = setting(
        16, "joint encoders: 2^encoder_bits counts per revolution; 0: exact positions and velocities", low=0, high=24
    )
    joint_friction: float = setting(
        1.0, "joint friction, relative to a typical iCub; it affects efforts only", low=0.0, high=5.0
    )

    @classmethod
    def without_effects(cls, **given: Any) -> "SimulationSettings":
        """Return settings of a rigid arm without friction and with exact sensors; `given` overrides them."""
        off = dict.fromkeys(
            ("cable_stiffness", "cable_bending_stiffness", "cross_talk", "drift", "noise", "joint_friction"), 0.0
        )
        return cls(**{**off, "encoder_bits": 0, **given})


def steps_per_sample(rate: float) -> int:
    """Return the time steps per sample at `rate` [Hz]. Raises ParameterError unless they are a whole number."""
    steps = STEPS_PER_SECOND / arrays.real("rate", rate, 0, STEPS_PER_SECOND, low_open=True)
    if steps != round(steps):
        raise ParameterError("rate", rate, f"a divisor of {STEPS_PER_SECOND} Hz")
    return round(steps)
