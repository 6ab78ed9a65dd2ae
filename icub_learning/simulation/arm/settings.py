"""All settings of the simulated arm in one table: default, range, unit and meaning of each."""

from dataclasses import dataclass, field, fields
from typing import Any

from icub_learning import arrays
from icub_learning.errors import ParameterError

TIME_STEP_NS = 1_000_000  # [ns] of the physics
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
    task: str = _choice("circle_xy", TASKS, "what the arm does from the start")
    seed: int = _number(0, 0, 2**31 - 1, "seed of everything random; same seed, same data")
    circle_radius: float = _number(0.10, 0.01, 0.10, "radius of the circles of the hand [m]")
    circle_speed: float = _number(0.6, 0.01, 0.8, "mean speed of the hand on its circle [m/s]")
    circle_wander: float = _number(
        0.01, 0.0, 0.02, "how far the centre of the circle wanders slowly [m]; posture and speed wander along with it"
    )
    cable_stiffness: float = _number(
        200.0, 0.0, 2000.0, "cable bundle across the elbow: force per stretch between its clamps [N/m]"
    )
    cable_bending_stiffness: float = _number(
        1.0, 0.0, 5.0, "cable bundle across the elbow: torque per angle between its clamps [N m/rad]"
    )
    cable_hysteresis: float = _number(
        0.3, 0.0, 1.0, "cable bundle: friction between its strands, relative to its elastic force"
    )
    cross_talk: float = _number(
        0.01, 0.0, 0.1, "force/torque sensor: how much of one axis shows on another, relative to full scale"
    )
    drift: float = _number(0.2, 0.0, 10.0, "force/torque sensor: standard deviation of its slow drift [N]")
    noise: float = _number(0.6, 0.0, 10.0, "force/torque sensor: standard deviation of its white noise [N]")
    encoder_bits: int = _number(
        16, 0, 24, "joint encoders: counts of a revolution as a power of 2; 0: exact positions and velocities"
    )
    joint_friction: float = _number(
        1.0, 0.0, 5.0, "friction in the joints, relative to a typical iCub; shows in the efforts only"
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
        """Settings of an ideal arm with ideal sensors: rigid, frictionless, exact; `given` overrides."""
        off = dict.fromkeys(
            ("cable_stiffness", "cable_bending_stiffness", "cross_talk", "drift", "noise", "joint_friction"), 0.0
        )
        return cls(**{**off, "encoder_bits": 0, **given})


def steps_per_sample(rate: float) -> int:
    """Return the time steps between two samples at `rate` [Hz]. Raises ParameterError unless they are whole."""
    steps = STEPS_PER_SECOND / arrays.real("rate", rate, 0, STEPS_PER_SECOND, low_open=True)
    if steps != round(steps):
        raise ParameterError("rate", rate, f"a divisor of {STEPS_PER_SECOND} Hz")
    return round(steps)
