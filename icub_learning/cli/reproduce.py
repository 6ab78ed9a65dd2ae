"""`icub-learning reproduce`: tables and figures of the sources, beside the published ones."""

from icub_learning.cli.parser import CommandParser

# Name on the command line: module below icub_learning.experiments (see CommandParser), and what --help says of it.
EXPERIMENTS = {
    "figure-4.1": ("thesis.figure_4_1", "few centres with little regularization against many with much"),
    "figure-4.2": ("thesis.figure_4_2", "model selection time: a path over the centres against separate fits"),
    "table-4.1": ("thesis.table_4_1", "exact and approximate kernel methods, numbers of centres and features chosen"),
    "table-4.3": (
        "thesis.table_4_3",
        "five ways to regularize least squares: time and error, and where each is cheapest",
    ),
    "nytro": ("thesis.nytro", "NYTRO against Nyström KRLS: time over the number of centres"),
    "figure-5.1": ("thesis.figure_5_1", "features and centres that theory asks for, and those that suffice"),
    "figure-5.2": ("thesis.figure_5_2", "random features learn splines at the optimal rate"),
    "figure-5.3": ("thesis.figure_5_3", "the number of random features or centres as what regularizes"),
    "table-6.2": (
        "thesis.table_6_2",
        "SGM and SIGM against a support vector machine, over passes and steps (figures 6.1, 6.2)",
    ),
    "corollaries-6": (
        "thesis.stopping_rates",
        "SGM stopped as corollaries 2 to 9 say: excess risks on a known problem",
    ),
    "detection": ("detection", "on-line object detection: minibootstrap, full bootstrap, random background"),
    "falkon": ("falkon", "FALKON against direct Nyström and KRLS: time, error and iterations over n"),
    "figure-7.1": ("thesis.figure_7_1", "what unbalanced classes do to a decision boundary, and recoding"),
    "figure-7.2": ("thesis.figure_7_2", "what a late class gains and the others lose over the recoding alpha"),
    "table-7.1": ("thesis.table_7_1", "a class that arrives after the others: RLSC, rebalanced RLSC and recoding"),
    "figure-8.4": ("thesis.figure_8_4", "inverse dynamics after a change of task, on the simulated arm"),
    "change": ("change.experiment", "loads, contacts, wear and feed-forward control on simulated robots"),
    "peers": ("peers.experiment", "inverse dynamics, contacts and loads beside what others published"),
    "recognition": ("recognition.experiment", "few views, unknown objects and a late class, beside rivals and bounds"),
    "beyond": ("beyond.experiment", "accelerated NYTRO, chosen features, logistic FALKON, POLK without a step size"),
    "polk-multidist": ("polk.multidist", "POLK on five planar mixtures beside the Bayes rule and its rivals"),
    "polk-curves": ("polk.curves", "POLK while it learns: risk, error and points over samples, beside batch methods"),
    "polk-convergence": ("polk.convergence", "POLK towards the best function: theorems 1 to 3 with their rates"),
    "tensor-layout": ("tensor.layout", "tensor kernels: entries and times of the packed layout beside the full one"),
    "tensor-synthetic": (
        "tensor.synthetic",
        "tensor kernels: times of building and optimizing, errors over m and gamma",
    ),
    "tensor-selection": ("tensor.selection", "tensor kernels: true features found among 5000 from few samples"),
    "tensor-wpbc": ("tensor.wpbc", "tensor kernels on WPBC: build times of both layouts, errors of subsamples"),
}
DESCRIPTION = "Run a published experiment and print its figures beside the published ones."
EXAMPLE = """\
icub-learning reproduce EXPERIMENT --help explains an experiment and its options.

example:
  icub-learning reproduce figure-8.4 --samples 3000 --json out/figure-8.4.json"""


def add_options(parser: CommandParser) -> None:
    """Add the experiments; each has options and a `run` of its own."""
    experiments = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True, dest="experiment")
    everything = "every experiment, and one page with all of them beside the published figures"
    experiments.add_parser("all", help=everything, module="icub_learning.cli.reproduce_all")
    for name, (module, summary) in EXPERIMENTS.items():
        example = f"example:\n  icub-learning reproduce {name} --json out/{name}.json"
        experiments.add_parser(name, help=summary, module=f"icub_learning.experiments.{module}", epilog=example)
