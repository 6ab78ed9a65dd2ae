"""`icub-learning reproduce`: tables and figures of the sources, beside the published ones."""

import argparse
import importlib
from typing import Any

# Name on the command line: module below icub_learning.experiments with SUMMARY, DESCRIPTION, add_options(parser) and
# run(args). All are imported to parse the command line, so numerics and plots are imported by their `run` only.
EXPERIMENTS = {
    "figure-4.1": "thesis.figure_4_1",
    "figure-4.2": "thesis.figure_4_2",
    "nytro": "thesis.nytro",
    "figure-5.2": "thesis.figure_5_2",
    "table-6.2": "thesis.table_6_2",
    "falkon": "falkon",
    "figure-7.1": "thesis.figure_7_1",
    "table-7.1": "thesis.table_7_1",
    "figure-8.4": "thesis.figure_8_4",
    "polk-multidist": "polk.multidist",
    "polk-mnist": "polk.mnist",
    "tensor-layout": "tensor.layout",
    "tensor-selection": "tensor.selection",
    "tensor-wpbc": "tensor.wpbc",
}
EXAMPLE = """\
icub-learning reproduce EXPERIMENT --help explains an experiment and its options.

example:
  icub-learning reproduce figure-8.4 --samples 3000 --json out/figure-8.4.json"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="tables and figures of the sources, beside the published ones",
        description="Run a published experiment and print its figures beside the published ones.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    experiments = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True, dest="what")
    for name, module_name in EXPERIMENTS.items():
        module = importlib.import_module(f"icub_learning.experiments.{module_name}")
        one = experiments.add_parser(
            name,
            help=module.SUMMARY,
            description=module.DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(one)
        one.set_defaults(run=module.run)
