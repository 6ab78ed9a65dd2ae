"""A zoo of simulated robots whose motion, outputs and parameters are known exactly, sensed as real robots are.

Estimators, filters and their defaults are judged on them: `ZOO["panda"].record(60.0, seed)` takes seconds. Defaults may
be chosen on the robots of `DEVELOPMENT` and on no others; those of `JUDGING` only say how good the choice is.
"""

from icub_learning.simulation.zoo.robot import ZooRecording, ZooRobot
from icub_learning.simulation.zoo.table import DEVELOPMENT, JUDGING, ZOO

__all__ = ["DEVELOPMENT", "JUDGING", "ZOO", "ZooRecording", "ZooRobot"]
