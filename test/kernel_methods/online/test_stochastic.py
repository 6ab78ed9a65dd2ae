"""Stochastic gradient learning against the recurrence on explicit weights, batch methods and scikit-learn."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.gaussian_process.kernels import RBF

from icub_learning.errors import ParameterError
from icub_learning.kernel_methods import StochasticKernelMachine
from icub_learning.kernel_methods.online.losses import scalar_losses

N = 60
MARGIN = ("hinge", "exponential", "logistic")
VALUES = {  # the losses as functions of target y and score a, with epsilon = 0.1
    "square": lambda y, a: (a - y) ** 2 / 2, "absolute": lambda y, a: np.abs(a - y),
    "epsilon_insensitive": lambda y, a: np.maximum(np.abs(a - y) - 0.1, 0.0),
    "hinge": lambda y, a: np.maximum(1 - y * a, 0.0), "exponential": lambda y, a: np.exp(-y * a),
    "logistic": lambda y, a: np.logaddexp(0.0, -y * a),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_slopes_are_the_derivatives_of_the_losses(name):
    loss, rng = scalar_losses(0.1)[name], np.random.default_rng(1)
    scores = rng.normal(size=50) * 2
    targets = np.sign(rng.normal(size=50)) if loss.margin else rng.normal(size=50)
    for y, a in zip(targets[:, None], scores[:, None], strict=True):
        numeric = approx_fprime(a, lambda a, y=y: VALUES[name](y, a)[0], 1e-7)
        np.testing.assert_allclose(loss.slope(y, a), numeric, atol=1e-5)
    slopes = loss.slope(np.ones(50), ascending := np.sort(scores))
    assert (np.diff(slopes) >= 0).all()  # the loss is convex
    if loss.curvature is not None:
        assert (np.diff(slopes) <= loss.curvature * np.diff(ascending) + 1e-12).all()


@pytest.mark.parametrize("decay", [0.3, 1.0])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("name", VALUES)
def test_a_pass_is_the_recurrence_on_explicit_weights(name, batch, average, decay):
    """With the linear kernel the iteration runs on w itself, sample by sample, written out."""
    x = (rng := np.random.default_rng(2)).normal(size=(N, 4)) / 2
    y = np.sign(rng.normal(size=N)) if name in MARGIN else x @ rng.normal(size=4)
    settings = {"step_size": 0.05, "decay": decay, "batch_size": batch, "order": "cyclic", "average": average}
    fitted = StochasticKernelMachine(kernel="linear", loss=name, max_iter=3, **settings).fit(x, y)
    slope, w, mean, total, step, expected = scalar_losses(0.1)[name].slope, np.zeros(4), np.zeros(4), 0.0, 0, []
    for _ in range(3):
        for start in range(0, N, batch):
            some, step = slice(start, min(start + batch, N)), step + 1
            eta = 0.05 * step**-decay
            mean, total = mean + eta * w, total + eta
            w = w - eta * np.mean(slope(y[some], x[some] @ w)[:, None] * x[some], axis=0)
        expected.append(mean / total if average else w)
    np.testing.assert_allclose(fitted.predict_path(x)[..., 0], [x @ one for one in expected], atol=1e-10)
    np.testing.assert_allclose(fitted.predict(x), x @ expected[-1], atol=1e-10)
    np.testing.assert_array_equal(fitted.path_levels_, [1, 2, 3])


@pytest.mark.parametrize("order", ["reshuffled", "iid"])
def test_orders_draw_as_they_say_and_follow_the_seed(order, data):
    (x, y), machine = data, StochasticKernelMachine(order=order, step_size=0.3, max_iter=1, random_state=5)
    one, same = machine.fit(x, y).predict(x), machine.fit(x, y).predict(x)
    np.testing.assert_array_equal(one, same)
    random = np.random.RandomState(5)
    indices = random.permutation(N) if order == "reshuffled" else random.randint(N, size=N)
    coefficients, gram = np.zeros((N, 2)), RBF(1.0)(x)
    for j in indices:
        coefficients[j] -= 0.3 * (gram[j] @ coefficients - y[j])
    np.testing.assert_allclose(machine.dual_coef_, coefficients, atol=1e-10)
    assert (len(np.unique(indices)) == N) == (order == "reshuffled")


@pytest.mark.parametrize("average", [False, True])
def test_targets_with_a_step_size_of_their_own_are_learned_as_alone(average, data):
    x, y, settings = data[0], data[1][:, 0], {"max_iter": 3, "average": average, "random_state": 2}
    steps, decays = (0.1, 0.5, 0.9), (0.0, 0.5, 1.0)
    both = StochasticKernelMachine(step_size=steps, decay=decays, **settings).fit(x, np.repeat(y[:, None], 3, axis=1))
    for place, (step, decay) in enumerate(zip(steps, decays, strict=True)):
        alone = StochasticKernelMachine(step_size=step, decay=decay, **settings).fit(x, y)
        np.testing.assert_allclose(both.predict(x)[:, place], alone.predict(x), atol=1e-12)


def test_automatic_steps_are_those_of_the_theory(data):
    x, y = data
    for batch, step in ((1, N**-0.5), (8, min(1.0, 8 * N**-0.5)), (N, 1.0)):
        assert StochasticKernelMachine(batch_size=batch, max_iter=1).fit(x, y).step_size_ == pytest.approx(step)
    scaled = StochasticKernelMachine(kernel="linear", batch_size=N, max_iter=1).fit(3 * x, y)
    with pytest.raises(ParameterError, match=r"below 2 / .* = 2,"):
        StochasticKernelMachine(step_size=(0.5, 2.0)).fit(x, y)
    with pytest.raises(ParameterError, match=r"= 8, from where"):  # the logistic loss has a curvature of 1 / 4
        StochasticKernelMachine(loss="logistic", step_size=8.0).fit(x, np.sign(y))
    hinge = StochasticKernelMachine(loss="hinge").fit(x, np.sign(y))
    assert hinge.score(x, y) == np.mean(np.sign(hinge.predict(x)) == np.sign(y)) > 0.5
    StochasticKernelMachine(kernel="linear", step_size=0.1).fit(np.zeros_like(x), y)  # no step is too long there
    assert scaled.step_size_ == pytest.approx(1 / np.max(np.sum((3 * x) ** 2, axis=1)))


def test_tolerance_ends_the_passes_and_divergence_is_an_error(data):
    x, y = data
    assert StochasticKernelMachine(step_size=1.0, max_iter=5000, tol=1e-2, order="cyclic").fit(x, y).n_iter_ < 5000
    with pytest.raises(ParameterError, match="diverges"):
        StochasticKernelMachine(loss="exponential", step_size=1e4).fit(x, np.where(y > 0, 1.0, -1.0))
