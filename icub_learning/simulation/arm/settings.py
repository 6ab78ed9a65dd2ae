"""All settings of the simulated arm: default, range, unit and description of each."""

from dataclasses import dataclass, field, fields
from typing import Any

from icub_learning import arrays
from icub_learning.errors import ParameterError

TIME_STEP_NS = 1_000_000  # [ns] time step of the physics
TIME_STEP = TIME_STEP_NS * 1e-9  # [s]
STEPS_PER_SECOND = 1_000_000_000 // TIME_STEP_NS
TASKS = ("circle_xy", "circle_xz", "random", "hold")


def _number(default: float, low: float, high: float, description: str) -> Any:
    return field(default=default, metadata={"low": low, "high": high, "description": description})


def _choice(default: str, choices: tuple[str, ...], description: str) -> Any:
    return field(default=default, metadata={"choices": choices, "description": description})


@dataclass(frozen=True)
class SimulationSettings:
    """What is simulated; every effect is switched off by setting its parameter to 0.

    The metadata of each field hold its description with unit and its range ("low", "high") or "choices".

    Raises:
        ParameterError: a value is outside its range.
    """

    side: str = _choice("right", ("right", "left"), "which arm of the iCub moves")
    task: str = _choice("circle_xy", TASKS, "initial task of the arm")
    seed: int = _number(0, 0, 2**31 - 1, "seed of all random numbers; equal seeds give equal data")
    circle_radius: float = _number(0.10, 0.01, 0.10, "radius of the hand's circles [m]")
    circle_speed: float = _number(0.6, 0.01, 0.8, "mean speed of the hand on its circle [m/s]")
    circle_wander: float = _number(
        0.01, 0.0, 0.02, "amplitude of slow variations of the circle's centre [m]; posture and speed vary in proportion"
    )
    cable_stiffness: float = _number(
        200.0, 0.0, 2000.0, "cable bundle across the elbow: force per elongation between its clamps [N/m]"
    )
    cable_bending_stiffness: float = _number(
        1.0, 0.0, 5.0, "cable bundle across the elbow: torque per angle between its clamps [N m/rad]"
    )
    cable_hysteresis: float = _number(
        0.3, 0.0, 1.0, "cable bundle: friction between its strands, relative to its elastic force"
    )
    cross_talk: float = _number(
        0.01,
        0.0,
        0.1,
        "force/torque sensor: largest part of one axis in the reading of another, relative to full scale",
    )
    drift: float = _number(0.2, 0.0, 10.0, "force/torque sensor: standard deviation of its slow drift [N]")
    noise: float = _number(0.6, 0.0, 10.0, "force/torque sensor: standard deviation of its white noise [N]")
    encoder_bits: int = _number(
        16, 0, 24, "joint encoders: 2^bits counts per revolution; 0: exact positions and velocities"
    )
    joint_friction: float = _number(
        1.0, 0.0, 5.0, "joint friction, relative to a typical iCub; it affects efforts only"
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            value, limits = getattr(self, entry.name), entry.metadata
            if "choices" in limits:
                if value not in limits["choices"]:
                    raise ParameterError(entry.name, value, "one of " + ", ".join(limits["choices"]))
                continue
            if isinstance(entry.default, int):
                arrays.integer(entry.name, value, limits["low"])
            arrays.real(entry.name, value, limits["low"], limits["high"])

    @classmethod
    def without_effects(cls, **given: Any) -> "SimulationSettings":
        """Return settings of a rigid arm without friction and with exact sensors; `given` overrides them."""
        off = dict.fromkeys(
            ("cable_stiffness", "cable_bending_stiffness", "cross_talk", "drift", "noise", "joint_friction"), 0.0
        )
        return cls(**{**off, "encoder_bits": 0, **given})


def steps_per_sample(rate: float) -> int:
    """Return the time steps per sample at `rate` [Hz]. Raises ParameterError unless that is a whole number."""
    steps = STEPS_PER_SECOND / arrays.real("rate", rate, 0, STEPS_PER_SECOND, low_open=True)
    if steps != round(steps):
        raise ParameterError("rate", rate, f"a divisor of {STEPS_PER_SECOND} Hz")
    return round(steps)
