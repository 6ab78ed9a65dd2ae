"""`icub-learning tune` on images of objects: the classifier of the recognition node."""

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from icub_learning.cli import parameter_file
from icub_learning.cli.image_sources import SUFFIXES, Folder
from icub_learning.cli.options import progress_bar
from icub_learning.cli.report import write_drawn
from icub_learning.cli.tune import picture, report
from icub_learning.cli.tune.progress import Progress, complete, fingerprint
from icub_learning.errors import RecordingError
from icub_learning.evaluation.object_tuning import Views, increasing, linear_errors, predict_then_learn
from icub_learning.recognition import CNNFeatures
from icub_learning.recognition.assembly import Settings, make_classifier
from icub_learning.reporting.tables import save_figures

REGULARIZATIONS = tuple(10.0 ** (power / 2) for power in range(-4, 9))  # that are tried, about the default


def tune_objects(args: argparse.Namespace) -> None:
    """Choose classifier and settings on the first views of objects, and check them on the last. Raises RecordingError,
    DataError: the images cannot be read, or are too few; ParameterError: an option is outside its range.
    """
    shipped = Settings()
    tuning, last = _load(args.pictures, args.tune_on)
    folds = tuning.folds(args.folds, args.gap)
    levels = increasing("regularizations", args.regularizations or REGULARIZATIONS)
    progress = Progress(args.parameters.with_suffix(".progress.json"), fingerprint(folds, (levels, shipped.recoding)))
    results = complete(
        progress, [str(index) for index in range(args.folds)],
        lambda index: linear_errors(folds[index], levels, shipped.recoding),
    )  # fmt: skip
    errors, losses = np.mean(list(results.values()), axis=0)
    best = levels[int(np.lexsort((losses, errors))[0])]
    # Of equal ones the first is chosen.
    candidates = {"adaptive": shipped, "rlsc": replace(shipped, classifier="rlsc", regularization=best)}
    first = {name: _late_errors(settings, tuning) for name, settings in candidates.items()}
    kind = min(first, key=lambda name: first[name])
    tuned = candidates[kind]
    check = {
        name: _share_wrong(settings, tuning, last, name)
        for name, settings in {"tuned": tuned, "defaults": shipped, **candidates}.items()
    }
    figures = {
        "pictures": str(args.pictures),
        "labels": tuning.labels,
        "views_tuned_on": sum(map(len, tuning.features.values())),
        "views_last": sum(map(len, last.features.values())),
        "folds": args.folds,
        "regularizations": levels,
        "errors": errors,
        "losses": losses,
        "chosen": {"classifier": kind, "regularization": best},
        "at_the_edge": len(levels) > 1 and best in (levels[0], levels[-1]),
        "late_errors_while_tuning": first,
        "settings": asdict(tuned),
        "check": check,
        "beats_defaults": bool(check["tuned"] < check["defaults"]),
        "verdict": report.verdict("share of the last views named wrong", check["tuned"], check["defaults"]),
    }

    def draw(path: Path) -> None:
        picture.draw_objects(path, args.pictures.name, shipped, figures)

    text, name = report.objects_text(figures), args.pictures.name
    print(text)
    comment = f"Chosen by icub-learning tune from {name}: {figures['verdict']}"
    parameter_file.write_objects(args.parameters, tuned, [comment])
    print(f"parameters: {args.parameters}")
    write_drawn(args, draw, f"Settings chosen from {name}", "Errors of each lambda, and the check", text)
    save_figures(args.json, figures)
    progress.done()


def _load(path: Path, share: float) -> tuple[Views, Views]:
    """Return the views to tune on and the last ones, as features of EfficientNet-Lite0."""
    if (path / "train").is_dir() and (path / "test").is_dir():
        tuning, last = _read(path / "train"), _read(path / "test")
        if tuning.labels != last.labels:
            raise RecordingError(f"{path}: train and test hold different objects", name="labels", bound="the same")
        return tuning, last
    return _read(path).split(share)


def _read(path: Path) -> Views:
    folders = sorted(
        one for one in path.iterdir()
        if one.is_dir() and any(file.suffix.lower() in SUFFIXES for file in one.iterdir())
    )  # fmt: skip
    if len(folders) < 2:
        raise RecordingError(
            f"{path} holds {len(folders)} folders of images, but needs one for each of two objects or more",
            name=str(path), value=len(folders), bound="two folders of images",
        )  # fmt: skip
    network = CNNFeatures()
    sources = {folder.name: Folder(folder, 1.0) for folder in folders}
    total = sum(len(source.names) for source in sources.values())
    with tqdm(total=total, desc=f"features of {path.name}", disable=None, leave=False, unit="image") as bar:

        def features(source: Folder) -> Any:
            rows = []
            for _ in source.names:
                rows.append(network.transform(source.read()))
                bar.update()
            return np.array(rows, dtype=float)

        return Views({label: features(source) for label, source in sources.items()})


def _late_errors(settings: Settings, views: Views) -> float:
    """Return the share of the later half of the views that are named wrong before they are learned."""
    classifier = make_classifier(settings, next(iter(views.features.values())).shape[1])
    right = predict_then_learn(classifier, views.in_turns(), progress_bar(f"learn, {settings.classifier}", "view"))
    return float(1.0 - right[len(right) // 2 :].mean())


def _share_wrong(settings: Settings, tuning: Views, last: Views, name: str) -> float:
    """Learn the views tuned on; return the share of the last views that are named wrong before they are learned."""
    classifier = make_classifier(settings, next(iter(tuning.features.values())).shape[1])
    for label, x in progress_bar(f"check {name}", "view")(tuning.in_turns()):
        classifier.learn(x, label)
    return float(1.0 - predict_then_learn(classifier, last.in_turns(), progress_bar(f"check {name}", "view")).mean())
