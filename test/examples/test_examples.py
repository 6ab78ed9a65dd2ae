"""Every example runs as a user starts it, and what it prints is true."""

import re
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from icub_learning.cli.model.actions import open_model
from icub_learning.models import load_state

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TESTED = {
    "learn_a_recording", "wrench_on_a_stream", "identify_a_load", "teach_objects_from_a_folder",
    "kernel_methods_on_a_data_set", "merge_two_robots", "use_predicted_wrench", "close_the_loop",
}  # fmt: skip


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run an example as `python examples/NAME.py ARGUMENTS`, with `old` replaced, to its `error`; return its output."""

    def main(name: str, *arguments: object, old: str = "", new: str = "", error: str = "") -> str:
        text = (program := EXAMPLES / f"{name}.py").read_text()
        assert old in text
        monkeypatch.setattr(sys, "argv", [str(program), *map(str, arguments)])
        with pytest.raises(SystemExit, match="2") if error else nullcontext():
            exec(compile(text.replace(old, new), program, "exec"), {"__name__": "__main__", "__file__": str(program)})
        shown = capfd.readouterr()
        assert error in shown.err and bool(shown.err) == bool(error)
        return shown.out

    return main


def numbers(line: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e[-+]\d+)?", line)]


def test_all_examples_are_tested_and_listed() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == TESTED
    assert not [name for name in TESTED if f"[{name}.py]({name}.py)" not in (EXAMPLES / "README.md").read_text()]


def test_learn_a_recording(run: Callable[..., str], tmp_path: Path) -> None:
    text = run("learn_a_recording", "--seconds", 8, "--model", tmp_path / "arm")
    rows = {line.split()[0]: numbers(line) for line in text.splitlines() if line.startswith(("force.", "torque."))}
    assert len(rows) == 6 and all(last < first and share < 0.1 for first, last, share in rows.values())
    assert open_model(tmp_path / "arm.npz").learner.n_samples == sum(load_state(tmp_path / "arm.npz")["ledger.counts"])
    t = np.arange(1, 101) / 100
    np.savez(efforts := tmp_path / "efforts.npz", **{"time": t, "position.elbow_joint": t, "effort.elbow_joint": 2 - t})
    assert "elbow_joint" in run("learn_a_recording", efforts, "--urdf", "ur10", "--model", tmp_path / "ur10")
    run("learn_a_recording", efforts, "--urdf", "ur10", "--output", "wrench", error="no sensor joint")


def test_wrench_on_a_stream(run: Callable[..., str]) -> None:
    text = run("wrench_on_a_stream", "--seconds", 3, "--mass", 1.0)
    quarters = [numbers(line)[-1] for line in text.splitlines() if line.startswith("  after")]
    assert quarters[-1] < 0.8 * quarters[0]
    free, felt, mass = numbers(*(line for line in text.splitlines() if line.startswith("external force")))
    for name in ("wrench_on_a_stream", "identify_a_load"):
        run(name, "--mass", -1, error="--mass is -1, but must be within [0, 3] kg")
    assert mass == 1.0 and 0.7 * 9.81 < felt - free < felt < 2 * 9.81  # [N] its weight, less what the empty hand shows


def test_identify_a_load(run: Callable[..., str]) -> None:
    text = run("identify_a_load", "--seconds", 11, "--mass", 0.6)
    mass, deviation = numbers(*(line for line in text.splitlines() if line.startswith("found")))[:2]
    assert abs(mass - 0.6) < 3 * deviation < 0.2
    assert [line.split(": ")[1] for line in text.splitlines() if " s: " in line][-2:] == ["contact", "nothing"]


def test_teach_objects_from_a_folder(run: Callable[..., str], tmp_path: Path) -> None:
    """Pictures that any eye tells apart: stripes of one colour each, at random places."""
    rng = np.random.default_rng(0)
    for label, colour in {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (40, 50, 220)}.items():
        (tmp_path / label).mkdir()
        for number in range(10):
            pixels, start = rng.integers(0, 60, (120, 160, 3), dtype=np.uint8), rng.integers(0, 60)
            pixels[:, start : start + 80] = colour
            Image.fromarray(pixels).save(tmp_path / label / f"{number}.png")
    text = run("teach_objects_from_a_folder", tmp_path, "--model", tmp_path / "objects.npz")
    assert "taught red            with   8 pictures: 6 of 6 unseen ones" in text
    model = open_model(tmp_path / "objects.npz")
    assert model.described and model.learner.objects() == dict.fromkeys(("blue", "green", "red"), 8)
    (tmp_path / "red" / "9.png").write_bytes((tmp_path / "red" / "9.png").read_bytes()[:-99])
    for folder, said in (("none", "is no folder"), ("", "9.png")):
        run("teach_objects_from_a_folder", tmp_path / folder, error=said)


@pytest.mark.usefixtures("renderer")
def test_teach_simulated_objects(run: Callable[..., str], tmp_path: Path) -> None:
    text = run("teach_objects_from_a_folder", "--views", 5, "--model", tmp_path / "objects.npz")
    assert numbers(text.splitlines()[3].partition(":")[2]) == [4, 4]  # right ones and all


def test_kernel_methods_on_a_data_set(run: Callable[..., str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (400, 3))
    y = np.sin(3.0 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.normal(size=400)
    np.savetxt(tmp_path / "table.csv", np.column_stack([x, y]), delimiter=",")
    noise = 0.1 / y.std()
    rows = [line.split() for line in run("kernel_methods_on_a_data_set", tmp_path / "table.csv").splitlines()]
    errors = {row[0]: float(row[1]) for row in rows if len(row) == 4 and row[0] != "method"}
    assert set(errors) == {"KRLS", "NystromKRLS", "FALKON", "RandomFeaturesKRLS", "POLKRegressor"}
    assert errors.pop("POLKRegressor") < 0.7  # POLK sees each sample once
    assert all(noise * 0.8 < error < noise * 1.6 for error in errors.values()), (noise, errors)
    run("kernel_methods_on_a_data_set", EXAMPLES / "README.md", error="README.md is no table of numbers")
    np.savetxt(tmp_path / "same.csv", np.column_stack([x, 0.1 + 0 * y]), delimiter=",")
    run("kernel_methods_on_a_data_set", tmp_path / "same.csv", error="the target is 0.1 in all rows")
    run("kernel_methods_on_a_data_set", "--samples", 0, error="--samples is 0, but must be at least 20")


def test_merge_two_robots(run: Callable[..., str]) -> None:
    lines = run("merge_two_robots", old="1500, 500", new="400, 200").splitlines()
    rows = {line[:28].strip(): numbers(line[28:]) for line in lines[1:5]}
    assert rows["merged"] == rows["one robot, all data"] and rows["merged"][1] < 0.5 * rows["robot 1"][1]
    assert rows["merged"][0] < 0.9 * rows["robot 2"][0] and float(lines[5].split()[-4]) < 1e-8
