"""`icub-learning tune` on images of objects: the classifier of the recognition node."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.cli.common.image_sources import image_files, read_image
from icub_learning.cli.common.options import progress_bar, write_drawn
from icub_learning.cli.common.parameter_file import as_text
from icub_learning.errors import RecordingError
from icub_learning.evaluation.object_tuning import Views, increasing, linear_errors, predict_then_learn
from icub_learning.experiments.panels import Panel, draw
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.reporting.tables import number, replacing_for, save_figures, table

REGULARIZATIONS = tuple(10.0 ** (power / 2) for power in range(-4, 9))  # candidates for lambda, around the default


def tune_objects(args: argparse.Namespace) -> None:
    shipped = Settings()
    tuning, last = _load(args.pictures, args.tune_on)
    folds = tuning.folds(args.folds, args.gap)
    levels = increasing("regularizations", args.regularizations or REGULARIZATIONS)
    found = [linear_errors(fold, levels, shipped.recoding) for fold in progress_bar("folds", "fold")(folds)]
    errors, losses = np.mean(found, axis=0)
    best = levels[int(np.lexsort((losses, errors))[0])]
    # Of candidates with equal errors the first is chosen.
    candidates = {"adaptive": shipped, "rlsc": replace(shipped, classifier="rlsc", regularization=best)}
    judged = {name: _errors_of(settings, tuning, last) for name, settings in candidates.items()}
    kind = min(judged, key=lambda name: judged[name][0])
    settings = candidates[kind]
    in_check = {"tuned": kind, "defaults": "adaptive", "adaptive": "adaptive", "rlsc": "rlsc"}
    check = {name: judged[candidate][1] for name, candidate in in_check.items()}
    figures = {
        "pictures": str(args.pictures), "labels": list(tuning.features), "folds": args.folds,
        "views_tuned_on": sum(map(len, tuning.features.values())), "views_last": sum(map(len, last.features.values())),
        "regularizations": levels, "errors": errors, "losses": losses,
        "chosen": {"classifier": kind, "regularization": best},
        "at_the_edge": len(levels) > 1 and best in (levels[0], levels[-1]),
        "late_errors_while_tuning": {name: late for name, (late, _) in judged.items()}, "settings": asdict(settings),
        "check": check, "beats_defaults": bool(check["tuned"] < check["defaults"]),
        "verdict": _verdict(check["tuned"], check["defaults"]),
    }  # fmt: skip
    text, name = _text(figures), args.pictures.resolve().name
    print(text)
    chosen = ("regularization",) if kind == "rlsc" else ()  # the adaptive classifier chooses by itself
    values = {key: getattr(settings, key) for key in ("classifier", *chosen, "recoding")}
    comment = f"Chosen by icub-learning tune from {name}: {figures['verdict']}"
    with replacing_for("--parameters", args.parameters) as file:
        file.write(as_text("object_recognition", (Settings,), values, comment, chosen))
    print(f"parameters: {args.parameters}")
    drawn = f"{name}: views named wrong", _panels(figures, shipped.regularization), 2
    heads = f"Settings chosen from {name}", "Errors of each lambda, and the check"
    write_drawn(args, lambda path: draw(path, *drawn), *heads, text)
    save_figures(args.json, figures)


def _load(path: Path, share: float) -> tuple[Views, Views]:
    """Return the views to tune on and the last ones, as features of EfficientNet-Lite0."""
    if (path / "train").is_dir() and (path / "test").is_dir():
        tuning, last = _read(path / "train"), _read(path / "test")
        if list(tuning.features) != list(last.features):
            raise RecordingError(f"{path}: train and test hold different objects", name="labels", bound="the same")
        return tuning, last
    return _read(path).split(share)


def _read(path: Path) -> Views:
    images = [(folder.name, file) for folder in sorted(path.iterdir()) for file in image_files(folder)]
    features: dict[str, list[Any]] = {label: [] for label, _ in images}
    if len(features) < 2:
        text = f"{path} holds {len(features)} folders of images, but needs one for each of two objects or more"
        raise RecordingError(text, name=str(path), value=len(features), bound="two folders of images")
    network = CNNFeatures()
    for label, file in progress_bar(f"features of {path.name}", "image", delay=0.0)(images):
        features[label].append(network.transform(read_image(file)))
    return Views({label: np.array(rows, dtype=float) for label, rows in features.items()})


def _errors_of(settings: Settings, tuning: Views, last: Views) -> tuple[float, float]:
    """Return the shares of views named wrong before they are learned: in the later half of `tuning`, and in `last`."""
    classifier = make_classifier(settings, next(iter(tuning.features.values())).shape[1])
    bar = progress_bar(f"learn, {settings.classifier}", "view")
    first, second = (predict_then_learn(classifier, views.in_turns(), bar) for views in (tuning, last))
    return float(1.0 - first[len(first) // 2 :].mean()), float(1.0 - second.mean())


def _verdict(ours: float, shipped: float) -> str:
    pair = f"share of the last views named wrong: {number(ours)} against {number(shipped)} of the shipped defaults"
    if ours >= shipped:
        return f"{pair}, no better and no worse" if ours == shipped else f"{pair}: does NOT beat them"
    return f"{pair}, {number(shipped / ours)} times better" if ours > 0 else f"{pair}: better"


def _text(figures: Mapping[str, Any]) -> str:
    chosen, check = figures["chosen"], figures["check"]
    rows = [
        [number(level) + ("*" if level == chosen["regularization"] else " "), number(100 * error), number(loss)]
        for level, error, loss in zip(figures["regularizations"], figures["errors"], figures["losses"], strict=True)
    ]
    late = figures["late_errors_while_tuning"]
    edge = "\nIt is at the edge of what was tried (--regularizations); there may be better beyond it."
    better = "beat" if figures["beats_defaults"] else "do NOT beat"
    blocks = [
        f"{figures['pictures']}: {len(figures['labels'])} objects, tuned on {figures['views_tuned_on']} views",
        f"Classifier rlsc, mean over {figures['folds']} moments:\n"
        + table(["lambda", "named wrong [%]", "squared error"], rows),
        f"best lambda of rlsc *: {number(chosen['regularization'])}" + edge * figures["at_the_edge"],
        "Learning the views tuned on one after the other, named wrong in their later half: "
        + ", ".join(f"{name} {100 * value:.1f} %" for name, value in late.items())
        + f". So the classifier is {chosen['classifier']}.",
        f"Check: of {(n_last := figures['views_last'])} last views, predicted, then learned, so many are named wrong: "
        + ", ".join(f"{name} {value * n_last:.0f}" for name, value in check.items()),
        f"On these pictures the tuned settings {better} the shipped defaults: {figures['verdict']}.",
    ]
    return "\n\n".join(blocks)


def _panels(figures: Mapping[str, Any], shipped: float) -> list[Panel]:
    """Return panels: errors of rlsc in validation over lambda, and errors of all candidates on the last views."""
    errors, values = 100 * np.array(figures["errors"]), [100 * value for value in figures["check"].values()]
    levels = {"tuned": figures["chosen"]["regularization"], "shipped": shipped}
    marks = {f"lambda, {name}": ([level] * 2, [0.0, errors.max()]) for name, level in levels.items()}
    lines = {"rlsc": (figures["regularizations"], errors)}
    names, bars = ["tuned", "shipped", "adaptive", "tuned rlsc"], {"named wrong": (range(4), values)}
    return [
        Panel("classifier rlsc, validation", "lambda", "named wrong [%]", lines, marks, linear_y=True),
        Panel("last views, predicted, then learned", "", "named wrong [%]", bars, linear_y=True, names=names),
    ]
