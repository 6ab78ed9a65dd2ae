"""Parameter files of nodes with the settings that `icub-learning tune` chose, in the form of those in config/."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from icub_learning.cli.evaluate.command import SETTINGS
from icub_learning.dynamics.assembly import Settings
from icub_learning.errors import ParameterError
from icub_learning.kernel_methods.tuning import Grid
from icub_learning.recognition.assembly import Settings as RecognitionSettings

COLUMN = 36  # where comments begin
MEANINGS = {
    "urdf": "robot description, as for the node",
    "joints": "learned, in the order of all arrays",
    "output": "what is learned: wrench, or joint_torque",
    "estimator": "semiparametric, parametric or nonparametric",
    "stamp_source": "time of a message: header or arrival",
    **{name: text for name, _, text in SETTINGS},
}
CHOSEN = ("n_random_features", "length_scale", "nonparametric_regularization")


def check_grid(grid: Grid) -> None:
    """Raise ParameterError for numbers that the node does not take."""
    for size in grid.sizes:
        if size % 2:
            raise ParameterError("--sizes", size, "even: a cosine and a sine for each frequency")


def write_dynamics(path: Path, urdf: str, settings: Settings, stamp_source: str, comment: Sequence[str]) -> None:
    """Write the parameters of the inverse dynamics node: the robot, all settings that are not default, the chosen ones.

    Args:
        path: of the file.
        urdf: as it was given, not where it was found.
        settings: of the learner.
        stamp_source: "header" or "arrival".
        comment: lines at the head.

    Raises:
        ParameterError: the file cannot be written.
    """
    default = Settings(urdf="")
    wanted: dict[str, Any] = {"urdf": urdf, "output": settings.output}
    wanted |= {"sensor": settings.sensor} if settings.output == "wrench" else {"friction": settings.friction}
    always = {"estimator", "stamp_source", *CHOSEN}
    values: dict[str, Any] = {**wanted, "joints": list(settings.joints), "estimator": settings.estimator}
    for name in MEANINGS:
        value = stamp_source if name == "stamp_source" else getattr(settings, name)
        if name not in values and (name in always or value != getattr(default, name)):
            values[name] = list(value) if isinstance(value, tuple) else value
    chosen = {name: f"{MEANINGS[name]}; tuned" for name in CHOSEN}
    write(path, {"inverse_dynamics": values}, {**MEANINGS, **chosen}, comment)


def write_objects(path: Path, settings: RecognitionSettings, comment: Sequence[str]) -> None:
    """Write the parameters of the recognition node that were chosen. Raises ParameterError."""
    names = {"rlsc": ("regularization", "recoding"), "polk": ("length_scale", "max_dictionary", "recoding")}
    values = {"classifier": settings.classifier}
    values |= {name: getattr(settings, name) for name in names[settings.classifier]}
    meanings = {
        "classifier": "rlsc (linear) or polk (a kernel and a limited set of examples)",
        "regularization": "lambda; tuned",
        "length_scale": "of the kernel, on features of unit length; tuned",
        "max_dictionary": "most examples kept; tuned",
        "recoding": "how far objects with few examples are raised; not tuned",
    }
    write(path, {"object_recognition": values}, meanings, comment)


def write(
    path: Path, nodes: Mapping[str, Mapping[str, Any]], meanings: Mapping[str, str], comment: Sequence[str]
) -> None:
    """Write parameters of nodes, each with what it means. Raises ParameterError if the file cannot be written."""
    lines = [f"# {line}" for line in comment]
    for node, values in nodes.items():
        lines += [f"{node}:", "  ros__parameters:"]
        for name, value in values.items():
            meaning = meanings.get(name, "")
            if isinstance(value, (list, tuple)):
                lines.append(f"    {name}:".ljust(COLUMN) + f"  # {meaning}")
                lines += [f"      - {plain(entry)}" for entry in value]
            else:
                lines.append(f"    {name}: {plain(value)}".ljust(COLUMN) + f"  # {meaning}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ParameterError("--parameters", str(path), f"a file that can be written ({error.strerror})") from error


def plain(value: Any) -> str:
    """A YAML scalar of the type that ROS expects: 1.0 for a float and not 1, 1.0e-05 and not 1e-05, which is text."""
    rounded = float(f"{value:.6g}") if isinstance(value, float) else value
    return yaml.safe_dump(rounded, width=10_000).removesuffix("...\n").strip()
