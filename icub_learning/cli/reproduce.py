"""`icub-learning reproduce`: tables and figures of the sources, beside the published ones."""

from icub_learning.cli.common.parser import CommandParser, declared

DESCRIPTION = "Run a published experiment and print its figures beside the published ones."
EXAMPLE = """\
icub-learning reproduce EXPERIMENT --help explains an experiment and its options.

example:
  icub-learning reproduce figure-8.4 --samples 3000 --json out/figure-8.4.json"""
EXPERIMENTS = declared("experiments", "reproduce")


def add_options(parser: CommandParser) -> None:
    experiments = parser.add_subparsers(title="experiments", metavar="EXPERIMENT", required=True, dest="experiment")
    everything = "every experiment, and one page with all of them beside the published figures"
    experiments.add_parser("all", help=everything, module="icub_learning.cli.reproduce_all")
    for name, (module, summary) in EXPERIMENTS.items():
        example = f"example:\n  icub-learning reproduce {name} --json out/{name}.json"
        experiments.add_parser(name, help=summary, module=module, epilog=example)
