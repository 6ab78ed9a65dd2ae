"""A simulated iCub arm: MuJoCo physics, tasks, and the effects that a rigid-body model cannot explain.

The physics engine is loaded on first use: whoever only reads the settings need not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from icub_learning.simulation.settings import TASKS, SimulationSettings

if TYPE_CHECKING:
    from icub_learning.simulation.arm_simulation import ArmSimulation
    from icub_learning.simulation.readings import Sensors, Truth
    from icub_learning.simulation.recordings import simulate

__all__ = ["TASKS", "ArmSimulation", "Sensors", "SimulationSettings", "Truth", "simulate"]

_HOMES = {"ArmSimulation": "arm_simulation", "Sensors": "readings", "Truth": "readings", "simulate": "recordings"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
