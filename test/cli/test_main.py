"""The command line: help at once, errors in one line, and figures as they are printed."""

import json
import re
import subprocess
import sys
from argparse import HelpFormatter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import yaml
from helpers import records
from helpers.recordings import JOINTS, rigid_recording

import icub_learning
from icub_learning.cli.common import options, parameter_file
from icub_learning.cli.evaluate.cases import single_case
from icub_learning.cli.main import COMMANDS, main, make_parser
from icub_learning.cli.reproduce import EXPERIMENTS
from icub_learning.cli.reproduce_all import arguments_of
from icub_learning.dynamics.settings import Settings
from icub_learning.errors import ParameterError
from icub_learning.recording import write
from icub_learning.reporting.tables import number, table, write_json
from icub_learning.robots import find_urdf


def test_what_is_declared_is_found_without_importing_it():
    for package, declared in (("cli", COMMANDS), ("experiments", EXPERIMENTS)):
        folder = Path(icub_learning.__file__).parent / package
        declaring = [path for path in folder.rglob("*.py") if re.search(r"^DESCRIPTION\b", path.read_text(), re.M)]
        assert len(declared) == len(declaring) - (package == "cli")  # `reproduce all` is no command of its own
        for name, (module, summary) in declared.items():
            assert import_module(module).__doc__.partition(f" {name}`: ")[2].startswith(f"{summary}.")


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_takes_the_arguments_with_which_the_page_of_all_runs_it(name, quick):
    arguments = arguments_of(import_module(EXPERIMENTS[name][0]), quick)
    assert make_parser().parse_args(["reproduce", name, *arguments]).experiment == name


@pytest.mark.parametrize("line", [*COMMANDS, *(f"reproduce {name}" for name in EXPERIMENTS)])
def test_help_has_an_example_and_states_the_defaults(line, capsys, monkeypatch, checkout):
    taken, add_argument = [], HelpFormatter.add_argument
    monkeypatch.setattr(HelpFormatter, "add_argument", lambda self, one: taken.append(one) or add_argument(self, one))
    assert main([*line.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    for action in next((one.choices for one in taken if one.dest == "action"), ()):
        assert main([line, action, "--help"]) == 0
    found = [[f"{it.dest}={it.default}", it.nargs, it.required, "|".join(map(str, it.choices or ()))] for it in taken]
    records.check(__file__, f"options of {line}", found)
    assert "example:" in shown and f"icub-learning {line}" in shown
    assert all((checkout / file).is_file() for file in re.findall(r"default: ((?:config|urdf)/[^<>]*?)[,)]", shown))
    assert not re.search(r"\(default: [^)\n]*\{", shown), "a template that users read"
    for option in taken:
        said = re.search(r"default: ([-\d. ]*\d)", option.help or "")
        if said and isinstance(option.default, int | float):
            assert option.default == float(said[1].replace(" ", "")), option.dest


def test_help_imports_nothing_heavy():
    """Help therefore appears at once, and also on a machine without ROS."""
    code = (
        "import sys; from icub_learning.cli.main import main;"
        " [main(line.split()) for line in ('--version', '--help', 'reproduce --help')];"
        " print([m for m in ('numpy', 'pinocchio', 'rclpy', 'mujoco', 'matplotlib', 'rosbags') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("icub_learning ") and result.stdout.splitlines()[-1] == "[]"
    assert all(command in result.stdout for command in COMMANDS)


def test_given_settings_reach_the_learner(tmp_path):
    arm = rigid_recording(20)
    write(replace(arm, joint_arrivals=arm.joint_stamps + 9), path := tmp_path / "arm.npz")
    options = f"--urdf ur10 --output joint_torque --joints {JOINTS[1]},{JOINTS[0]} {JOINTS[2]} --no-friction --seed 7"
    options += " --prior nominal --stamp-source arrival --forgetting 0.99"
    case = single_case(make_parser().parse_args(["evaluate", str(path), *options.split()]), path)
    given = {"joints": (JOINTS[1], JOINTS[0], JOINTS[2]), "friction": False, "seed": 7, "prior": "nominal"}
    given |= {"output": "joint_torque", "joint_order": "any", "stamp_source": "arrival", "forgetting": 0.99}
    assert case.settings == Settings(find_urdf("ur10"), **given)
    assert (case.recording.joint_stamps == arm.joint_stamps + 9).all()


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    for terminal in (True, False):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        assert list(options.progress_bar("steps", "step", 6, delay=0.0)(iter(range(3)))) == [0, 1, 2]
        assert list(options.progress_bar("quick", "step")(range(3))) == [0, 1, 2]  # shown after a second only
        options.show_status("one")
        options.show_status("", end="\n")
        bar, *status = capsys.readouterr().err.split("\x1b[K")
        assert status == ["one\r", "\n"] * terminal
        assert ("steps:   0%|" in bar and "| 0/6 [" in bar and "quick" not in bar and "\n" not in bar) == terminal


def test_parameter_files_hold_values_as_ros_reads_them():
    values = {"joints": ("a", "1"), "tolerance": 1e-5, "seed": 3, "friction": True, "urdf": "yes", "max_gap": 2 / 3}
    text = parameter_file.as_text("arm", [Settings], values, "Made.", ["tolerance"])
    records.check(__file__, "parameter file", text.splitlines())
    assert yaml.safe_load(text)["arm"]["ros__parameters"] == values | {"joints": ["a", "1"], "max_gap": 0.666667}


def test_json_is_strict_and_whole(tmp_path):
    path = tmp_path / "new" / "figures.json"
    write_json(path, {"a": np.array([1.5, np.nan]), "b": (np.float64("inf"), np.int64(3), None, True), 5: {"c": "x"}})
    expected = {"a": [1.5, None], "b": [None, 3, None, True], "5": {"c": "x"}}
    assert json.loads(path.read_text(), parse_constant=pytest.fail) == expected
    with pytest.raises(ParameterError, match="--json"):
        write_json(path / "below_a_file.json", {})
    assert [entry.name for entry in path.parent.iterdir()] == ["figures.json"]


def test_numbers_for_people():
    for value, shown in (
        (0.0, "0"), (1.0, "1.00"), (123.456, "123"), (98765.4, "98765"), (0.00123456, "0.00123"),
        (1.23e-7, "1.23e-07"), (-0.5, "-0.500"), (4.2e9, "4.20e+09"), (float("nan"), "-"), (None, "-"),
    ):  # fmt: skip
        assert number(value) == shown


def test_tables_line_up():
    rows = [["a", "1", "2.25", "3"], ["long name", "10", "2", "3"]]
    assert table(["output", "P", "NP", "P"], rows, [("x", 2), ("longer", 1)]).splitlines() == [
        "           ───x────  longer", "output      P    NP       P", "───────────────────────────",
        "a           1  2.25       3", "long name  10     2       3",
    ]  # fmt: skip
