"""`icub-learning model`: what model files hold, how two differ, pooling two, and whether they are whole."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icub_learning.errors import IcubLearningError
from icub_learning.reporting.tables import add_json_option, number, save_figures, table

if TYPE_CHECKING:  # loaded when the command runs: help appears at once
    from icub_learning.cli.model.opened import OpenedModel

DESCRIPTION = "Say what model files hold, compare two, pool two, or check that they are whole."
EXAMPLE = """\
example:
  icub-learning model info ~/.local/state/icub_learning/models/right_arm.npz
  icub-learning model diff monday.npz friday.npz
  icub-learning model merge robot_1.npz robot_2.npz --to both.npz
  icub-learning model check ~/.local/state/icub_learning/models/*.npz

A file is compared with its checksums, and the learner in it is rebuilt. `merge` refuses models of different robots,
sensors or networks. `check` exits with 1 if a file is not a whole model."""

FAILED = 1  # exit code


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, text in (("info", "what a model is and how it was learned"), ("check", "whether models are whole")):
        action = actions.add_parser(name, help=text)
        action.add_argument("files", nargs="+", metavar="FILE", type=Path)
        add_json_option(action)
    action = actions.add_parser("diff", help="how two models differ")
    action.add_argument("files", nargs=2, metavar="FILE", type=Path)
    add_json_option(action)
    action = actions.add_parser("merge", help="pool two models, as if one robot had seen what both saw")
    action.add_argument("files", nargs=2, metavar="FILE", type=Path)
    action.add_argument("--to", required=True, metavar="FILE", type=Path, help="the pooled model")
    action.add_argument("--any-urdf", action="store_true", help="also if the URDFs of the robot differ")
    add_json_option(action)


def run(args: argparse.Namespace) -> int:
    """Do what was asked for; return 1 if `check` found a file that is not whole."""
    return {"info": _info, "diff": _diff, "merge": _merge, "check": _check}[args.action](args)


def _info(args: argparse.Namespace) -> int:
    from icub_learning.cli.model.opened import open_model

    models = [open_model(path) for path in args.files]
    for model in models:
        facts = _facts(model)
        width = max(map(len, facts))
        print(f"{model.path}\n{'─' * len(str(model.path))}")
        print("\n".join(f"{key:<{width}}  {_text(value)}" for key, value in facts.items()), end="\n\n")
    save_figures(args.json, {str(model.path): _facts(model) for model in models})
    return 0


def _check(args: argparse.Namespace) -> int:
    from icub_learning.cli.model.opened import open_model

    found: dict[str, str] = {}
    for path in args.files:
        try:
            model = open_model(path)
            found[str(path)] = "whole" if model.described else "whole, without checksums (an earlier release)"
        except IcubLearningError as error:
            found[str(path)] = str(error)
    for path, text in found.items():
        print(text if path in text else f"{path}: {text}")
    bad = sum(not text.startswith("whole") for text in found.values())
    save_figures(args.json, {"files": found, "not whole": bad})
    return FAILED if bad else 0


def _diff(args: argparse.Namespace) -> int:
    import numpy as np

    from icub_learning.cli.model.opened import open_model

    first, second = (open_model(path) for path in args.files)
    facts = [_facts(model) for model in (first, second)]
    keys = list(dict.fromkeys([*facts[0], *facts[1]]))
    rows = [[key, _text(facts[0].get(key, "-")), _text(facts[1].get(key, "-"))] for key in keys]
    different = [row for row in rows if row[1] != row[2]]
    print(table(["what differs", *(path.name for path in args.files)], different))
    print()
    changes: dict[str, Any] = {}
    for key in sorted(first.state.keys() | second.state.keys()):
        one, other = first.state.get(key), second.state.get(key)
        if one is None or other is None:
            changes[key] = "in one of the two only"
        elif one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            changes[key] = f"{one.dtype} {one.shape}, {other.dtype} {other.shape}"
        elif not np.array_equal(one, other):
            changes[key] = _relative_change(one, other) if one.dtype.kind == "f" else "differs"
    shown = [[key, number(value) if isinstance(value, float) else value] for key, value in changes.items()]
    print(table(["array", "change relative to its norm"], shown) if shown else "all arrays are equal")
    save_figures(args.json, {"facts": {row[0]: row[1:] for row in different}, "arrays": changes})
    return 0


def _merge(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from icub_learning.cli.model.opened import open_model
    from icub_learning.models import write_model
    from icub_learning.models.ledger import accounted
    from icub_learning.recognition.recognizer import ObjectRecognizer

    first, second = (open_model(path) for path in args.files)
    second.header.check_origin(first.header, any_urdf=args.any_urdf)
    if isinstance(first.learner, ObjectRecognizer):
        first.learner.merge(second.state)
        objects = first.learner.objects()
        statistics = {"objects": len(objects), "examples": sum(objects.values())}
    else:
        first.learner.merge(second.learner)
        statistics = {"samples": first.learner.n_samples}
    header = replace(first.header, statistics=statistics, saved_at=time.time())
    written = write_model(args.to, accounted(first.learner), header)
    print(f"{written}: {', '.join(f'{value} {name}' for name, value in statistics.items())}")
    save_figures(args.json, {"file": str(written), "statistics": statistics})
    return 0


def _facts(model: "OpenedModel") -> dict[str, Any]:
    """Return what there is to say about a model, by name."""
    header = model.header
    saved = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(header.saved_at)) if header.saved_at else ""
    facts = {
        "kind": header.kind,
        "robot": header.robot,
        "joints": list(header.joints),
        "sensor": header.sensor,
        "network": header.network,
        "digest of the URDF": header.urdf_digest,
        **dict(header.statistics),
        "saved": saved,
        "release": header.release or "an earlier one",
        "format": header.format_version if model.described else "without description and checksums",
        "arrays": len(model.state),
        "size [MB]": round(model.bytes / 1e6, 3),
        **{f"setting {name}": value for name, value in header.settings.items()},
    }
    return {key: value for key, value in facts.items() if value not in ("", [], None)}


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _relative_change(one: Any, other: Any) -> float:
    import numpy as np

    size = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)))
    return float(np.linalg.norm(np.subtract(one, other, dtype=float))) / size if size else 0.0
