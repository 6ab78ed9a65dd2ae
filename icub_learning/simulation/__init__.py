"""A simulated iCub: its arm, with effects that no rigid-body model explains, and objects in its hand before its eyes.

The physics engine is loaded on first use, so that reading the settings does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from icub_learning.simulation.arm.settings import TASKS, SimulationSettings

if TYPE_CHECKING:
    from icub_learning.simulation.arm.arm_simulation import ArmSimulation as ArmSimulation
    from icub_learning.simulation.arm.readings import Sensors as Sensors
    from icub_learning.simulation.arm.readings import Truth as Truth
    from icub_learning.simulation.arm.recordings import simulate as simulate
    from icub_learning.simulation.objects.catalogue import find_objects as find_objects
    from icub_learning.simulation.objects.scene import ObjectScene as ObjectScene
    from icub_learning.simulation.objects.views import UNSEEN as UNSEEN
    from icub_learning.simulation.objects.views import View as View

_MODULES = {
    "ArmSimulation": "arm.arm_simulation",
    "ObjectScene": "objects.scene",
    "Sensors": "arm.readings",
    "Truth": "arm.readings",
    "UNSEEN": "objects.views",
    "View": "objects.views",
    "find_objects": "objects.catalogue",
    "simulate": "arm.recordings",
}
__all__ = ["TASKS", "SimulationSettings", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
