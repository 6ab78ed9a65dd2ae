"""`reproduce peers`: inverse dynamics, contacts and loads beside what others published."""

import json
import shlex
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import tostring

from icub_learning.arrays import integer, real
from icub_learning.errors import ParameterError
from icub_learning.experiments.options import Arguments, checked_seed, options, progress
from icub_learning.experiments.peers import contacts, loads, page, trial
from icub_learning.experiments.peers.cases import Case, all_cases
from icub_learning.experiments.peers.rivals import RIVALS
from icub_learning.experiments.peers.tape import Tape, digest_of, record
from icub_learning.experiments.report.running import PACKAGE, digests
from icub_learning.reporting.tables import save_figures
from icub_learning.robots import read_urdf

SIMULATED_SECONDS, PLANES = 20.0, (40.0, 12.0)  # durations [s], see `all_cases`
QUICK_SECONDS, QUICK_PLANES = 15.0, (12.0, 5.0)
QUICK_CASES = ("lbr_med7_exciting", "icub_wrench_50hz", "change XY to XZ")  # the first is real, if available
PARTS = ("learners", "contacts", "loads")
# Folders and files that what comes of a rival depends on, and those that tapes, contacts and loads depend on besides.
COMPETED = "experiments/peers", "evaluation", "recursive", "dynamics/regressors", "arrays.py"
TAPED = *COMPETED, "dynamics", "features", "simulation", "recording", "experiments/change", "robots.py"
SHOWN = {"experiments/peers/page.py", "experiments/peers/experiment.py"}  # only show what came of them
DESCRIPTION = """\
Our learner of inverse dynamics (SP) with its defaults beside rivals that others published: rigid bodies by recursive
least squares, LWPR, I-SSGPR, LoG-GP with both aggregations, a streaming sparse Gaussian process, a small network with
replay, each alone and on top of rigid bodies, and identification off line. Each predicts a sample before it learns it;
all learn the same samples at the same moment from the same motions, derived without delay. Each rival's settings are
searched on the first 30 % of each recording.

Recordings: those of real arms in $ICUB_LEARNING_DATA (arms/*.npz with URDFs beside them, ur10/*.db3), the robots of the
zoo that judge, and a change of task of the simulated arm in both directions. Errors are nMSE, geometric means over the
outputs, from 2 to 10 s after the start and in the last 30 %; after a change of task RMSE of force and torque. Contacts:
pushes on a simulated arm, our test beside the generalized momentum observer, at equal false alarms. Loads: our
estimator beside batch least squares.

What came of each rival on each recording is kept below --out until the recording or the code changes: an interrupted
run goes on where it was. The full form takes an hour or two on one core, the quick one five minutes."""
EXAMPLE = "example:\n  icub-learning reproduce peers --quick --page out/peers.md"
add_options = options(
    "all that is random", quick=True, draws=1,
    recordings={"nargs": "+", "metavar": "NAME", "help": "recordings (default: all)"},
    parts={"nargs": "+", "choices": PARTS, "default": list(PARTS), "help": "default: all of them"},
    seconds={"type": float, "help": f"of each robot of the zoo, at least 10 (default: {SIMULATED_SECONDS:g})"},
    page={"type": Path, "metavar": "FILE", "help": "write the page as Markdown, its pictures in pictures/ beside it"},
)  # fmt: skip


def run(args: Arguments) -> None:
    seed, draws = checked_seed(args), integer("--draws", args.draws, 1)
    usual = QUICK_SECONDS if args.quick else SIMULATED_SECONDS
    seconds = real("--seconds", usual if args.seconds is None else args.seconds, trial.START[1])
    folder = args.out / f"peers-{'quick' if args.quick else 'full'}"
    figures: dict[str, Any] = {"seed": seed, "quick": args.quick, "seconds": seconds, "command": _command(args)}
    if "learners" in args.parts:
        cases = all_cases(seconds, QUICK_PLANES if args.quick else PLANES, seed)
        wanted = args.recordings or (QUICK_CASES if args.quick else [case.name for case in cases])
        if unknown := {*wanted} - {case.name for case in cases}:
            raise ParameterError("--recordings", sorted(unknown), f"of {', '.join(case.name for case in cases)}")
        chosen = [case for case in cases if case.name in wanted]
        figures["learners"] = {
            case.name: _compare(case, folder / case.name.replace(" ", "_"), seed, args.quick)
            for case in progress(chosen, "recordings")
        }
    key = json.dumps([draws, seed, digests(_sources(TAPED))])
    for name, part in (("contacts", contacts), ("loads", loads)):
        if name in args.parts:
            figures[name] = trial.kept(folder / f"{name}.json", key, partial(part.measure, seed, draws))
    save_figures(args.json, figures)
    page.show(figures, args.out, args.page)


def _command(args: Arguments) -> str:
    """Return the command that was given, as far as its figures depend on it."""
    words = ["icub-learning", "reproduce", "peers", *(["--quick"] if args.quick else [])]
    for name in ("recordings", "parts"):
        words += [f"--{name}", *getattr(args, name)] if getattr(args, name) else []
    words += [] if args.seconds is None else ["--seconds", f"{args.seconds:g}"]
    words += ["--draws", str(args.draws), "--seed", str(args.seed)]
    return shlex.join([*words, *([] if args.page is None else ["--page", str(args.page)])])


def _sources(names: Iterable[str]) -> list[str]:
    """Return the sources in folders of the package, by their paths below it, but for those that only show results."""
    found = (path for name in names for path in (PACKAGE / name, *(PACKAGE / name).rglob("*")))
    return sorted({str(path.relative_to(PACKAGE)) for path in found if path.suffix in (".py", ".c", ".h")} - SHOWN)


def _compare(case: Case, folder: Path, seed: int, quick: bool) -> dict[str, Any]:
    """Return the outcome of each learner on a recording, kept from an earlier run unless something it needs changed."""
    recording, settings, noise = case.load()
    given = digest_of({**vars(recording), "URDF": tostring(read_urdf(settings.urdf))})
    key = json.dumps([case.name, given, digests(_sources(TAPED))])
    path = folder / "tape.npz"
    trial.kept(folder / "tape.json", key, lambda: record(recording, settings, noise).save(path))
    tape = Tape.load(path)
    found = {
        page.OURS: {**trial.score(tape, tape.ours, case.changes_at), "microseconds": tape.microseconds},
        page.RIGID: trial.score(tape, tape.rigid, case.changes_at),
    }
    if case.changes_at is None:
        work = partial(trial.off_line, tape, recording, settings)
        found[page.OFF_LINE] = trial.kept(folder / "off-line.json", key, work)
    sources = digests(_sources(COMPETED))
    for rival in progress(RIVALS, case.name):
        for on_top in (False, True)[: 1 + rival.on_top]:
            name = rival.name + page.ON_TOP if on_top else rival.name
            key = json.dumps([tape.digest, given, repr(rival.choices), on_top, seed, quick, sources])
            work = partial(trial.compete, tape, rival, settings, on_top, seed, quick, case.changes_at)
            found[name] = trial.kept(folder / f"{name.replace(' ', '_')}.json", key, work)
    return {"kind": case.kind, "samples": len(tape.times), "outputs": int(tape.judged.sum()), "learners": found}
