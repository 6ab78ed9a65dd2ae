"""A simulated iCub arm: MuJoCo physics, circles and other tasks, and the effects that a rigid-body model cannot explain."""

from icub_learning.simulation.arm_simulation import ArmSimulation
from icub_learning.simulation.readings import Sensors, Truth
from icub_learning.simulation.settings import TASKS, SimulationSettings
from icub_learning.simulation.simulate import simulate

__all__ = ["TASKS", "ArmSimulation", "Sensors", "SimulationSettings", "Truth", "simulate"]
