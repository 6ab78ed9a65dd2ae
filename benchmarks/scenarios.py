"""The table of all benchmarks. A name, once given, keeps its meaning, so that results stay comparable."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import (
    any_robot,
    command_help,
    core,
    falkon_large,
    fleet,
    history,
    kernel_methods,
    kilohertz,
    million,
    motion,
    node,
    object_learning,
    objects,
    parts,
    polk,
    recognition,
    recognition_settings,
    round_trip,
    tensor,
    thinning,
    view,
)
from benchmarks.report import Result


@dataclass(frozen=True)
class Scenario:
    """A named measurement: `run(quick)` measures; quick takes fewer sizes and samples, for a first look."""

    description: str
    run: Callable[[bool], Result]


SCENARIOS = {
    "any-robot": Scenario(
        "shipped defaults on simulated and real robots beside off-line identification", any_robot.run
    ),
    "learning-share": Scenario("what it costs to learn one sample in so many", thinning.run),
    "motion-filter": Scenario("velocities and accelerations on the zoo beside the best window for each", motion.run),
    "core-step": Scenario("predict, update and new weights, beside other ways to do it, over d and T", core.run),
    "core-history": Scenario("cost and memory of the 100 000th update beside the first ones", history.run),
    "core-million": Scenario("slope of the step's time and memory over 1e6 samples", million.run),
    "core-kilohertz": Scenario("1 kHz for a minute in one process, learning at each sample", kilohertz.run),
    "cycle-parts": Scenario("what a cycle of the inverse dynamics node consists of", parts.run),
    "node-round-trip": Scenario("round trips through the node beside a bare echo node, 100 to 1000 Hz", round_trip.run),
    "node-stream": Scenario("predictions of the node at 200 Hz over DDS: lost, late, and their cost", node.run),
    "command-help": Scenario("time until the help of each command has appeared", command_help.run),
    "view": Scenario(
        "the page in a browser: delay of predictions with it and without, its own cost and memory", view.run
    ),
    "objects-learn": Scenario("one example of an object, over d and T, beside re-solving", object_learning.run_learn),
    "objects-history": Scenario(
        "cost of the 30 000th and the 100 000th example of an object beside the first ones", object_learning.run_history
    ),
    "objects-recognize": Scenario("one view beside 2 to 1000 objects", object_learning.run_recognize),
    "camera-recognition": Scenario("from camera to recognition over two nodes, while learning", recognition.run),
    "recognition-settings": Scenario(
        "objects taught in a few seconds each: what is named right, over the settings of the node",
        recognition_settings.run,
    ),
    "object-lessons": Scenario("objects taught by 20 and by 3 views, over seeds and choices of objects", objects.run),
    "fleet": Scenario(
        "bytes and seconds of a fleet that pools its models, up to 10 robots and computed beyond", fleet.run
    ),
    "kernel-subsampling": Scenario("Nyström: few centres against much regularization", kernel_methods.run_subsampling),
    "kernel-incremental": Scenario("Nyström: the path over m beside separate fits", kernel_methods.run_incremental),
    "kernel-falkon": Scenario("FALKON beside direct Nyström and scikit-learn", kernel_methods.run_falkon),
    "kernel-falkon-large": Scenario(
        "FALKON on five million samples in a file, and over Dask workers", falkon_large.run
    ),
    "kernel-nytro": Scenario("NYTRO beside Nyström KRLS: time over m", kernel_methods.run_nytro),
    "polk-step": Scenario("POLK's step beside factoring anew, its cost and memory over 1e5 samples", polk.run),
    "tensor-layout": Scenario("tensor kernels: packed beside full, and 250 samples at order 4", tensor.run),
}
