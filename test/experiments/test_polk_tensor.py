"""The experiments on POLK and tensor kernels, at sizes that take seconds."""

import csv
import json

import numpy as np
import pytest

from icub_learning.cli.main import main


def run(tmp_path, capsys, *arguments):
    figures = tmp_path / "figures.json"
    code = main(["reproduce", *arguments, "--json", str(figures)])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return printed.out, json.loads(figures.read_text())


def test_polk_multidist(tmp_path, capsys):
    out, found = run(tmp_path, capsys, "polk-multidist", "--draws", "2", "--out", str(tmp_path))
    assert "Bayes" in out and (tmp_path / "polk-multidist.png").stat().st_size > 10_000
    hinge = found["methods"]["POLK hinge, K 0.04"]
    assert all(12 <= order <= 22 for order in hinge["order"])
    assert max(hinge["excess error"]) < 0.04
    assert max(found["methods"]["POLK logistic, K 0.01"]["excess error"]) < 0.015
    assert np.mean(found["methods"]["fixed budget 16, hinge"]["excess error"]) > np.mean(hinge["excess error"])


def test_polk_mnist(tmp_path, capsys):
    folder = tmp_path / "digits"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for digit in range(10):
        pixels = np.clip(rng.uniform(size=784) + 0.1 * rng.normal(size=(60, 784)), 0, 1)
        (folder / f"{digit}.json").write_text(json.dumps({"data": pixels.ravel().tolist()}))
    _, found = run(tmp_path, capsys, "polk-mnist", "--data", str(tmp_path), "--train", "400")
    methods = found["methods"]
    assert len(methods) == 5 and all(one["error"] < 0.05 for one in methods.values())  # chance is 0.9
    support = methods["SVM, in batch"]["points"]
    for loss, coarse, fine in (("logistic", "0.04", "0.02"), ("hinge", "0.2", "0.1")):
        few, more = (methods[f"POLK {loss}, K {parsimony}"]["points"] for parsimony in (coarse, fine))
        assert 10 <= few < more < support / 4  # one point for each digit at least


def test_tensor_layout(tmp_path, capsys):
    out, found = run(tmp_path, capsys, "tensor-layout", "--samples", "10", "25")
    assert "292825" in out and found["largest"] == [399, 181]
    assert all(one["difference"] < 1e-8 for one in found["times"])


@pytest.mark.slow
def test_tensor_selection(tmp_path, capsys):
    _, found = run(tmp_path, capsys, "tensor-selection", "--draws", "1")
    assert found["found"]["m 160, order 4"]["true"][0] >= 10


def test_tensor_wpbc(tmp_path, capsys):
    """On patients whose time depends on the product of two features, as the polynomial kernel of degree 2 can learn."""
    rng = np.random.default_rng(0)
    path = tmp_path / "wpbc.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["status", "time", *(f"f{j}" for j in range(5))])
        for row in rng.normal(size=(140, 5)):
            writer.writerow(["N", 10 + row[0] * row[1] + 0.1 * rng.normal(), *row])
        writer.writerow(["R", 1.0, *["NA"] * 5])
    out, found = run(tmp_path, capsys, "tensor-wpbc", "--data", str(path), "--draws", "1")
    assert "published" in out and list(found["errors"]) == ["30", "40", "50", "60"]
    # Of targets of unit variance, where guessing their mean has the error 1; noise alone leaves 0.01.
    errors = [one[0] for one in found["errors"].values()]
    assert all(0.01 < error < 0.2 for error in errors) and errors[-1] < errors[0]
    assert [one["n"] for one in found["build"]] == [60, 120]
    assert all(one["difference"] < 1e-8 for one in found["build"])


def test_bad_data_are_one_line(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for arguments in (["tensor-wpbc", "--data", str(tmp_path / "x.csv")], ["tensor-wpbc", "--data", "nowhere.csv"],
                      ["polk-multidist", "--draws", "0"], ["tensor-layout", "--samples", "1"]):  # fmt: skip
        assert main(["reproduce", *arguments]) == 2
        assert capsys.readouterr().err.count("\n") == 1
