"""What the sources propose as future work, at sizes that take seconds."""

import numpy as np
import pytest

from icub_learning.experiments import falkon
from icub_learning.experiments.beyond import logistic
from icub_learning.experiments.polk import multidist


@pytest.fixture(scope="module")
def found(run):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multidist, "N_TRAIN", 2000)
        return run("beyond", "--quick")


def deviation(n):
    """Return the RMSE of the zero function on the test samples."""
    _, (_, f) = falkon.sample(n, 0)
    return np.sqrt(np.mean(f**2))


def test_accelerated_nytro(found):
    part = found[1]["nytro"]
    methods = part["methods"]
    assert list(methods) == ["gradient", "nu", "nesterov", "cg"] and part["rmse"] < 0.8 * deviation(part["n"])
    for name in ("nu", "nesterov", "cg"):
        assert methods[name]["least"] < 1.01 * part["rmse"] < methods["gradient"]["least"]
    assert methods["cg"]["enough"] < methods["nu"]["enough"] < methods["nesterov"]["enough"]
    assert methods["gradient"]["enough"] is None


def test_chosen_features(found):
    part = found[1]["features"]
    for name, floor in (("ten inputs", 0.9 * deviation(part["n"])), ("a line", 0.2)):
        assert all(part["problems"][name][drawing]["rmse"][-1] < floor for drawing in ("uniform", "leverage"))
    line = part["problems"]["a line"]
    assert line["leverage"]["rmse"][0] < 0.8 * line["uniform"]["rmse"][0]  # error with the fewest features
    for kind in ("fourier", "fastfood"):
        assert part["Matérn"][kind]["rmse"] < 1.2 / np.sqrt(part["Matérn"]["m"])  # error of order m^(-1/2)


def test_logistic_falkon(found):
    for row in found[1]["logistic"]["rows"]:
        ours, square, rival = (row[name] for name in logistic.METHODS)
        assert 0 < ours["excess log loss"] < square["excess log loss"]
        assert ours["excess log loss"] == pytest.approx(rival["excess log loss"], rel=0.4)
        assert max(one["excess error"] for one in (ours, square, rival)) < 0.1 < row["bayes"] + 0.1 < 0.4
    train, (x, y), chance = logistic.problem(2000, 0)
    assert set(train[1]) == {-1.0, 1.0} and len(x) == len(y) == len(chance)
    assert logistic.log_loss(y, chance) < logistic.log_loss(y, np.clip(chance + 0.05, 0, 0.99))
    assert logistic.log_loss(y, np.full(len(y), 0.5)) == pytest.approx(np.log(2))


def test_coin_betting_is_near_the_best_step(found):
    for one in found[1]["polk"]["losses"].values():
        steps = [np.mean(some["excess error"]) for name, some in one.items() if name.startswith("eta")]
        assert np.mean(one["coin, one by one"]["excess error"]) < min(steps) + 0.02 < max(steps) - 0.1
        assert all(10 < np.mean(some["order"]) < 500 for name, some in one.items() if name.startswith("coin"))
