"""The actions of `icub-learning model` on model files, whose learners of any kind are rebuilt."""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.dynamics import saved_model as dynamics
from icub_learning.errors import IcubLearningError, StateError
from icub_learning.models import ModelHeader, read_model, write_model
from icub_learning.models.header import digest_of_urdf, utc
from icub_learning.models.kept import ModelsFolder
from icub_learning.models.ledger import SOURCES, accounted
from icub_learning.models.states import broken_entries, scalar
from icub_learning.recognition import assembly as objects
from icub_learning.recognition.recognizer import ObjectRecognizer
from icub_learning.reporting.tables import number, save_figures, table

MOST_NAMES = 10  # most entries of a list that `diff` shows
URDF_ENTRIES = ("regressor.urdf", "parametric.regressor.urdf")  # hold the URDF in a state of inverse dynamics


@dataclass(frozen=True)
class OpenedModel:
    """A model that was read, compared with its checksums, and rebuilt."""

    path: Path  # file of the model
    header: ModelHeader  # description of the model; made from the state where an earlier release wrote none
    described: bool  # whether the file has a description and checksums
    state: dict[str, Any]  # arrays of the model
    learner: Any  # an estimator of inverse dynamics, an object recognizer, or a detector


def open_model(path: Path, own: str = "") -> OpenedModel:
    """Read and rebuild a model; `own` is the import path of a user's class in it. A name that is no file here is looked
    for among the models that nodes keep. Raises StateError: the file is missing, damaged, newer or no model;
    ParameterError: the class cannot be imported, or cannot read its part."""
    if len(path.parts) == 1 and not path.exists() and not path.with_name(f"{path}.npz").exists():
        path = kept if (kept := ModelsFolder().path(str(path))).exists() else path
    state, header = read_model(path)
    kind = "" if header is None else header.kind
    if "estimator" in state:
        learner: Any = dynamics.estimator_of(state, own)
        entry = next((name for name in URDF_ENTRIES if name in state), None)
        robot, digest = digest_of_urdf(str(scalar(state, entry))) if entry else ("", "")
        joints, samples = tuple(learner.regressor.joints), {"samples": learner.n_samples}
        found = ModelHeader(dynamics.KIND, robot, digest, joints, settings={}, statistics=samples, saved_at=0.0)
    elif "recognizer" in state or (state.keys() == {objects.EMPTY} and kind in ("", objects.KIND)):
        settings = objects.Settings(classifier=own) if own else objects.Settings()
        learner = objects.make_recognizer(settings)
        objects.restore(learner, state)
        found = replace(objects.describe(settings, learner, ""), saved_at=0.0, release="")
    elif kind == "object_detection":
        from icub_learning.detection import saved_model as detection  # takes a second, not needed by other models

        learner = detection.restored(detection.OnlineDetector(), state)
    else:
        text = "holds no model of inverse_dynamics, object_recognition or object_detection"
        raise StateError(f"{path} {text}", value=str(path))
    if broken := broken_entries(state):
        raise StateError(f"{path} holds numbers that are not finite, in {', '.join(broken)}", value=str(path))
    return OpenedModel(path, header if header is not None else found, header is not None, state, learner)


def info(args: argparse.Namespace) -> None:
    figures, bad = dict[str, Any](), list[str]()
    for path in map(str, args.files):
        try:
            figures[path] = facts = _facts(open_model(Path(path), args.own))
        except IcubLearningError as error:  # the others are shown
            bad.append(str(error))
            continue
        shown = (f"{key:<{max(map(len, facts))}}  {_text(value)}" for key, value in facts.items())
        print(path, "─" * len(path), *shown, sep="\n", end="\n\n")
    save_figures(args.json if figures else None, figures)
    if bad:
        raise StateError("; ".join(bad), value=len(bad))


def check(args: argparse.Namespace) -> int:
    found, bad = dict[str, str](), 0
    for path in args.files:
        try:
            described = open_model(path, args.own).described
            text = "whole" if described else "whole, without checksums (of an earlier release, or save_state)"
        except IcubLearningError as error:
            text, bad = str(error), bad + 1
        print(text if str(path) in text else f"{path}: {text}")
        found[str(path)] = text
    save_figures(args.json, {"files": found, "not whole": bad})
    return int(bad > 0)


def diff(args: argparse.Namespace) -> None:
    first, second = (open_model(path, args.own) for path in args.files)
    facts = [_facts(model) for model in (first, second)]
    pairs = {key: [one.get(key, "-") for one in facts] for key in dict.fromkeys([*facts[0], *facts[1]])}
    texts = {key: [_text(value) for value in pair] for key, pair in pairs.items()}
    different = {key: pair for key, pair in texts.items() if pair[0] != pair[1]}
    rows = [[key, _apart(*pairs[key]), _apart(*pairs[key][::-1])] for key in different]
    print(table(["what differs", *(path.name for path in args.files)], rows), end="\n\n")
    changes: dict[str, Any] = {}
    for key in sorted(first.state.keys() | second.state.keys()):
        one, other = first.state.get(key), second.state.get(key)
        if one is None or other is None:
            changes[key] = "in one of the two only"
        elif one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            changes[key] = f"{one.dtype} {one.shape}, {other.dtype} {other.shape}"
        elif not np.array_equal(one, other):
            change = np.subtract(one, other, dtype=float) if one.dtype.kind == "f" else None
            sizes = [] if change is None else [float(np.linalg.norm(each)) for each in (change, one, other)]
            changes[key] = sizes[0] / max(sizes[1:]) if sizes else "differs"
    shown = [[key, number(value) if isinstance(value, float) else value] for key, value in changes.items()]
    print(table(["array", "change relative to its norm"], shown) if shown else "all arrays are equal")
    save_figures(args.json, {"facts": different, "arrays": changes})


def merge(args: argparse.Namespace) -> None:
    first, second = (open_model(path, args.own) for path in args.files)
    second.header.check_origin(first.header, any_urdf=args.any_urdf)
    if not hasattr(first.learner, "merge"):
        raise StateError("detectors are not pooled: teach one the objects of the other", value=first.header.kind)
    if isinstance(first.learner, ObjectRecognizer):
        if warning := first.learner.merge(second.state):
            print(warning, file=sys.stderr)
        known = first.learner.objects()
        statistics = {"objects": len(known), "examples": sum(known.values())}
    else:
        first.learner.merge(second.learner)
        statistics = {"samples": first.learner.n_samples}
        for path in (one.path for one in (first, second) if SOURCES not in one.state):
            text = "does not record whose samples it holds: those that the other model holds too are counted twice"
            print(f"{path} {text} (in Python, `accounted` of icub_learning.models.ledger adds it)", file=sys.stderr)
    header = replace(first.header, statistics=statistics, saved_at=time.time())
    written = write_model(args.to, accounted(first.learner), header)
    print(f"{written}: {', '.join(f'{value} {name}' for name, value in statistics.items())}")
    save_figures(args.json, {"file": str(written), "statistics": statistics})


def _facts(model: OpenedModel) -> dict[str, Any]:
    header, learner = model.header, model.learner
    known = learner.objects() if hasattr(learner, "objects") else getattr(learner, "counts", {})
    saved = utc(header.saved_at) if header.saved_at else ""
    facts = {
        "kind": header.kind, "robot": header.robot, "joints": list(header.joints), "sensor": header.sensor,
        "network": header.network, "digest of the URDF": header.urdf_digest, **dict(header.statistics),
        "known objects": [f"{label} ({count})" for label, count in known.items()],
        "saved": saved, "release": header.release or "an earlier one, or save_state",
        "format": header.format_version if model.described else "without description and checksums",
        "arrays": len(model.state),
        "size [MB]": round(sum(np.asarray(value).nbytes for value in model.state.values()) / 1e6, 3),
        **{f"setting {name}": value for name, value in header.settings.items()},
    }  # fmt: skip
    return {key: value for key, value in facts.items() if value not in ("", [], None)}


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _apart(value: Any, other: Any) -> str:
    """Return the text of a value; of a long list, its length and the first entries that the other value lacks."""
    if not isinstance(value, list) or len(value) <= MOST_NAMES:
        return _text(value)
    own = [one for one in value if one not in other]
    more = f" and {len(own) - MOST_NAMES} more" if len(own) > MOST_NAMES else ""
    return f"{len(value)}, {len(own)} of them only here: {_text(own[:MOST_NAMES])}{more}"
