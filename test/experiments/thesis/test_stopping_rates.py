"""Excess risks of stochastic gradients on a problem that is known."""

import numpy as np
import pytest

from icub_learning.experiments.thesis import spline_rates, stopping_rates
from icub_learning.kernel_methods import StochasticKernelMachine

PLACES = (np.arange(stopping_rates.GRID) + 0.5) / stopping_rates.GRID  # grid over which excess risks are averaged


def test_corollaries_6(run, monkeypatch):
    monkeypatch.setattr(stopping_rates, "FURTHER", 2)  # length of a run in multiples of the corollaries' t*
    _, found = run("corollaries-6", "--quick")
    assert len(found["cases"]) == 19
    for case in found["cases"]:
        nothing = stopping_rates.excess(case["loss"], np.zeros((1, stopping_rates.GRID)), best_of(case["beta"]))[0]
        assert case["risks"]["average"][-1] < 0.6 * nothing
        assert case["exponents"]["average"] < case["exponents"]["bound"] + 0.2 < 0.2 and case["over the least"] >= 1
    passes, n = {(case["corollary"], case["beta"]): case["passes"] for case in found["cases"]}, found["sizes"][-1]
    # Epochs that the thesis names below corollary 3: n^((1 - beta) / (2 (1 + beta))) and n^((1 - beta) / (1 + beta)).
    assert passes[2, 0.5] == pytest.approx(n ** (1 / 6), abs=0.01)
    assert passes[3, 0.5] == pytest.approx(n ** (1 / 3), abs=0.01)
    assert passes["b = 1", 1.0] == 1 and passes["b = n^(1/2)", 1.0] == pytest.approx(1)
    assert passes["b = n", 1.0] == pytest.approx(n**0.5)
    assert passes[2, 1.0] == passes[3, 1.0] == passes[4, 0.5] == passes[9, 0.5] == 1
    # One draw equals one pass of StochasticKernelMachine with the spline kernel over the samples as drawn.
    n, seed, weights = 40, 3, spline_rates.decay(1 / (2 * stopping_rates.GAMMA))
    monkeypatch.setattr(stopping_rates, "FURTHER", 1)
    found = stopping_rates.simulate(stopping_rates.COROLLARIES[3], 0.5, n, 1, seed)
    random = np.random.default_rng([seed, 5, n, 50])  # 5: number of the corollary, 50: beta in percent
    (x, chance), turns = random.uniform(size=(2, n)), [random.integers(n, size=(1, 1)).item() for _ in range(n)]
    f = spline_rates.basis(x) @ stopping_rates.truth(stopping_rates.SMOOTHNESS[0.5], stopping_rates.GAMMA)
    y = np.where(chance < 1 / (1 + np.exp(-f)), 1.0, -1.0)

    def kernel(a, b):
        return (spline_rates.basis(a[:, 0]) * weights) @ (spline_rates.basis(b[:, 0]) * weights).T

    for average, name in ((False, "iterate"), (True, "average")):
        model = StochasticKernelMachine(kernel=kernel, loss="logistic", max_iter=1, order="cyclic", average=average,
                                        step_size=4 / (weights @ weights), decay=1 / 3)  # fmt: skip
        scores = model.fit(x[turns, None], y[turns]).predict(PLACES[:, None])
        expected = stopping_rates.excess("logistic", scores[None], best_of(0.5))[0]
        # The machine's average counts w_2 to w_(t+1), the thesis's w_1 to w_t.
        assert found[name][found["stop"]] == pytest.approx(expected, rel=1e-6 if name == "iterate" else 0.1)


def best_of(beta):
    return spline_rates.basis(PLACES) @ stopping_rates.truth(stopping_rates.SMOOTHNESS[beta], stopping_rates.GAMMA)


@pytest.mark.parametrize("loss", ["logistic", "absolute", "square"])
def test_excess_risks_are_means_over_labels(loss):
    rng = np.random.default_rng(0)
    best, scores = rng.normal(size=20), rng.normal(size=(1, 20))
    if loss == "logistic":
        y = np.where(rng.uniform(size=(200_000, 20)) < 1 / (1 + np.exp(-best)), 1, -1)
        costs = [np.mean(np.log1p(np.exp(-y * some))) for some in (scores, best)]
    else:
        y = best + rng.uniform(-1, 1, size=(200_000, 20))
        costs = [np.mean(np.abs(y - some) ** (2 if loss == "square" else 1)) for some in (scores, best)]
    assert stopping_rates.excess(loss, scores, best)[0] == pytest.approx(costs[0] - costs[1], rel=0.02)
    assert stopping_rates.excess(loss, best[None], best)[0] == 0
