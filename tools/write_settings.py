"""Write what is derived from the settings: parameter tables in docs/ros_interface.md, comments in config/*.yaml.

usage: python tools/write_settings.py [--check]

With --check nothing is written: files that differ are named, and the exit code is 1.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from textwrap import wrap

from icub_learning.nodes.common.parameters import ros_default
from icub_learning.settings import Setting

CHECKOUT = Path(__file__).resolve().parents[1]
NODES = (
    "inverse_dynamics",
    "icub_simulation",
    "gazebo_controller",
    "gazebo_joint_states",
    "cnn_features",
    "object_detection",
    "object_recognition",
)
SAME = {"right_arm_dynamics": "inverse_dynamics", "left_arm_dynamics": "inverse_dynamics"}  # names in config/ of nodes
DOCS = Path("docs", "ros_interface.md")
HEAD = "| parameter | default | meaning | range | can be set |\n|---|---|---|---|---|"
WIDTH = 96  # characters of a comment in a parameter file
NAME = re.compile(r"^( +)(\w+):(?!\S)(.*)$")


def parameters(node: str) -> tuple[Setting, ...]:
    """Return the parameters of a node, by its own name or one of `SAME`."""
    name = SAME.get(node, node)
    module = "parameters" if name == "inverse_dynamics" else "node"
    return import_module(f"icub_learning.nodes.{name}.{module}").PARAMETERS


def table(settings: tuple[Setting, ...]) -> str:
    """Return the Markdown table of the parameters of a node."""
    return "\n".join([HEAD, *map(_row, settings)])


def _row(setting: Setting) -> str:
    default = ros_default(setting)
    shown = '`""`' if default in ("", [""]) else f"`{str(default).lower()}`"
    changes = "any time" if setting.live else "unconfigured"
    return f"| `{setting.name}` | {shown} | {setting.meaning} | {setting.bound} | {changes} |"


def described_docs(text: str) -> str:
    """Return docs/ros_interface.md with the parameter table of every node, in its section."""
    for node in NODES:
        start = text.index(HEAD, text.index(f"\n## {node} "))
        end = text.index("\n\n", start) if "\n\n" in text[start:] else len(text.rstrip("\n"))
        text = text[:start] + table(parameters(node)) + text[end:]
    return text


def described_parameter_file(text: str) -> str:
    """Return a parameter file whose values each stand below the meaning of their parameter.

    A comment on the line of a value is kept: it says why this robot has this value.
    """
    settings: dict[str, Setting] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if found := re.match(r"^(\w+):", line):
            settings = {setting.name: setting for setting in parameters(found[1])}
        elif (found := NAME.match(line)) and found[2] in settings:
            while lines[-1].strip().startswith("# ") and not lines[-1].strip().startswith("# ----"):
                lines.pop()
            lines += [f"{found[1]}# {part}" for part in wrap(settings[found[2]].meaning, WIDTH)]
        lines.append(line)
    return "\n".join(lines) + "\n"


def differences() -> dict[Path, str]:
    """Return the new content of each file that does not say what the settings say."""
    files = [CHECKOUT / DOCS, *sorted(CHECKOUT.glob("config/*.yaml"))]
    found = {}
    for path in files:
        text = path.read_text()
        if path.suffix == ".yaml" and "ros__parameters" not in text:
            continue
        new = described_docs(text) if path.suffix == ".md" else described_parameter_file(text)
        if new != text:
            found[path] = new
    return found


if __name__ == "__main__":
    outdated = differences()
    for path, text in outdated.items():
        if "--check" not in sys.argv:
            path.write_text(text)
        print(path.relative_to(CHECKOUT))
    sys.exit(bool(outdated) and "--check" in sys.argv)
