"""`icub-learning reproduce all`: every experiment, and one page with their results beside the published figures."""

import argparse
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from icub_learning.cli.reproduce import EXPERIMENTS
from icub_learning.reporting.tables import add_value

DESCRIPTION = """\
Run every experiment, each in a process of its own, and write one HTML page: tables and pictures, published figures
beside ours with their difference, date, machine and seeds, and the data that were not to be had. The page needs no
network.

What came of an experiment is kept in a folder beside the page, which is written anew after each of them: an interrupted
run goes on where it was, and only what failed, lacked data or depends on a file of this package that has changed runs
again. --again starts from nothing, as after other data or other libraries.

example:
  icub-learning reproduce all --report out/sources.html --quick"""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "--report", Path("out/sources.html"), "the page", "FILE")
    parser.add_argument("--quick", action="store_true", help="small sizes and few repetitions")
    text = "these experiments (default: all)"
    parser.add_argument("--only", nargs="+", metavar="EXPERIMENT", choices=EXPERIMENTS, help=text)
    parser.add_argument("--again", action="store_true", help="run what is done again")


def run(args: argparse.Namespace) -> int:
    """Run what is not done yet and write the page; return 1 if an experiment failed although it had its data."""
    from icub_learning.experiments.report.page import make_page
    from icub_learning.experiments.report.running import DONE, ERRORS, FAILED, PRINTED, kept_outcome, run_experiment
    from icub_learning.reporting.page import describe_machine, write_page

    names = list(dict.fromkeys(args.only or EXPERIMENTS))
    modules = {name: importlib.import_module(EXPERIMENTS[name][0]) for name in names}
    arguments = {name: arguments_of(module, args.quick) for name, module in modules.items()}
    kept = args.report.parent / f"{args.report.stem}-{'quick' if args.quick else 'full'}"
    outcomes: dict[str, Any] = {}
    if not args.again:
        outcomes = {name: kept_outcome(kept / name, name, arguments[name]) for name in names}
    for place, name in enumerate(names, start=1):
        before = f"[{place}/{len(names)}] {name}"
        if outcomes.get(name) is not None:
            print(f"{before}: done on {outcomes[name].finished}", flush=True)
            if place < len(names):
                continue  # writing the page takes seconds, and nothing on it has changed yet
        else:
            print(f"{before} ...", flush=True)
            outcomes[name] = run_experiment(kept / name, name, arguments[name], _takes_out(modules[name]))
            more = "" if outcomes[name].status == DONE else f": {outcomes[name].message}"
            more += f"; see {PRINTED} and {ERRORS} in {kept / name}" if outcomes[name].status == FAILED else ""
            print(f"{before}: {outcomes[name].status}, {outcomes[name].seconds:.0f} s{more}", flush=True)
        sections = [_section(one, EXPERIMENTS[one][1], modules[one], outcomes.get(one), kept / one) for one in names]
        write_page(args.report, make_page(sections, describe_machine(), args.quick))
    minutes = sum(one.seconds for one in outcomes.values()) / 60
    print(f"experiments: {len(names)}, in {minutes:.1f} min with those that were kept", flush=True)
    return int(any(one.status == FAILED for one in outcomes.values()))


def arguments_of(module: ModuleType, quick: bool) -> tuple[str, ...]:
    """Return the arguments with which the page runs an experiment: those that it declares, or the defaults."""
    return getattr(module, "QUICK", ("--quick",)) if quick else getattr(module, "FULL", ())


def _takes_out(module: ModuleType) -> bool:
    parser = argparse.ArgumentParser()
    module.add_options(parser)
    return "out" in vars(parser.parse_args([]))


def _section(name: str, summary: str, module: ModuleType, outcome: Any, folder: Path) -> Any:
    from icub_learning.experiments.report.page import Section

    figures = {} if outcome is None else outcome.figures(folder)
    seed = figures.get("seed", figures.get("seeds", ""))
    comparisons = list(module.comparisons(figures)) if figures and hasattr(module, "comparisons") else []
    pictures = [] if outcome is None else sorted(folder.glob("*.png"))
    return Section(name, summary, module.DESCRIPTION, outcome, str(seed), comparisons, pictures)
