"""A simulated iCub: its arm, with effects that no rigid-body model explains, and objects that its eyes look at."""

from typing import TYPE_CHECKING

from icub_learning.lazy import lazy
from icub_learning.simulation.arm.settings import TASKS, SimulationSettings

if TYPE_CHECKING:
    from icub_learning.simulation.arm.arm_simulation import ArmSimulation
    from icub_learning.simulation.arm.readings import Sensors, Truth
    from icub_learning.simulation.arm.recordings import simulate
    from icub_learning.simulation.objects.catalogue import find_objects
    from icub_learning.simulation.objects.scene import ObjectScene
    from icub_learning.simulation.objects.views import UNSEEN, View

__all__ = [
    "TASKS", "UNSEEN", "ArmSimulation", "ObjectScene", "Sensors", "SimulationSettings", "Truth", "View",
    "find_objects", "simulate",
]  # fmt: skip

__getattr__ = lazy(__name__)
