"""A simulated iCub: its arm, with tasks and effects that no rigid-body model explains, and objects before its eye.

The physics engine is loaded on first use: whoever only reads the settings need not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from icub_learning.simulation.settings import TASKS, SimulationSettings

if TYPE_CHECKING:
    from icub_learning.simulation.arm_simulation import ArmSimulation
    from icub_learning.simulation.object_catalogue import find_objects
    from icub_learning.simulation.object_scene import ObjectScene
    from icub_learning.simulation.object_views import UNSEEN, View
    from icub_learning.simulation.readings import Sensors, Truth
    from icub_learning.simulation.recordings import simulate

__all__ = [
    "TASKS",
    "UNSEEN",
    "ArmSimulation",
    "ObjectScene",
    "Sensors",
    "SimulationSettings",
    "Truth",
    "View",
    "find_objects",
    "simulate",
]

_HOMES = {
    "ArmSimulation": "arm_simulation",
    "ObjectScene": "object_scene",
    "Sensors": "readings",
    "Truth": "readings",
    "UNSEEN": "object_views",
    "View": "object_views",
    "find_objects": "object_catalogue",
    "simulate": "recordings",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
