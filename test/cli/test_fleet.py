"""`icub-learning fleet` on files."""

import json

from helpers.arm_models import taught

from icub_learning.cli.main import main
from icub_learning.models import read_model, write_model
from icub_learning.models.ledger import accounted


def robot_file(path, seed):
    estimator, description = taught(30, seed, output_weights="equal")
    return str(write_model(path, accounted(estimator), description.header(30)))


def test_gather_and_spread(tmp_path, capsys):
    files = [robot_file(tmp_path / f"robot_{seed}", seed) for seed in range(2)]
    folder, figures = str(tmp_path / "fleet"), str(tmp_path / "fleet.json")
    assert main(["fleet", "gather", folder, files[0], f"other={files[1]}", "--json", figures]) == 0
    assert "60 samples more" in capsys.readouterr().out
    expected = {"robot_0": {"samples": 30, "new": 30}, "other": {"samples": 30, "new": 30}}
    assert json.loads((tmp_path / "fleet.json").read_text())["robots"] == expected
    assert main(["fleet", "gather", folder, *files]) == 0 and "0 samples more" in capsys.readouterr().out
    targets = [str(tmp_path / f"to_{number}.npz") for number in range(2)]
    assert main(["fleet", "spread", folder, *targets]) == 0
    assert [read_model(target)[1].statistics["samples"] for target in targets] == [60, 60]


def test_merging_two_that_share_samples_names_the_remedy(tmp_path, capsys):
    one, other = (robot_file(tmp_path / f"robot_{seed}", seed) for seed in range(2))
    both = str(tmp_path / "both.npz")
    assert main(["model", "merge", one, other, "--to", both]) == 0
    assert main(["model", "merge", both, one, "--to", both]) == 0  # `one` adds no samples
    assert "60 samples" in capsys.readouterr().out.splitlines()[-1]
    more = str(tmp_path / "more.npz")
    assert main(["model", "merge", one, robot_file(tmp_path / "robot_2", 2), "--to", more]) == 0
    assert main(["model", "merge", both, more, "--to", both]) == 2
    assert "30 of its 60 samples are here already" in capsys.readouterr().err
