"""The one table of benchmarks. A name, once given, keeps its meaning, so that results stay comparable."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import core, history, node, recognition
from benchmarks.report import Result


@dataclass(frozen=True)
class Scenario:
    """A named measurement: `run(quick)` measures; quick takes fewer sizes and samples, for a first look."""

    description: str
    run: Callable[[bool], Result]


SCENARIOS = {
    "core-step": Scenario("predict, update and new weights, beside other ways to do it, over d and T", core.run),
    "core-history": Scenario("cost and memory of the 100 000th update beside the first ones", history.run),
    "node-stream": Scenario("predictions of the node at 200 Hz over DDS: lost, late, and their cost", node.run),
    "camera-recognition": Scenario("from camera to recognition over two nodes, while learning", recognition.run),
}
