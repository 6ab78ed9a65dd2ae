"""Kernel matrices against scikit-learn's, element by element, and against their definition far from the origin."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, polynomial_kernel, rbf_kernel

from icub_learning.errors import NotFiniteError, ParameterError, ShapeError
from icub_learning.kernel_methods.kernels import Kernel, blocks, rows_per_block

REFERENCES = {
    "gaussian": lambda x, z: rbf_kernel(x, z, gamma=1 / (2 * 1.7**2)), "linear": linear_kernel,
    "polynomial": lambda x, z: polynomial_kernel(x, z, degree=4, gamma=1.0, coef0=1.0), "matern": Matern(1.7, nu=1.5),
}  # fmt: skip


@pytest.mark.parametrize("name", REFERENCES)
def test_as_scikit_learn(name):
    x, z = (rng := np.random.default_rng(0)).normal(size=(700, 5)), rng.normal(size=(40, 5))
    kernel, reference = Kernel(name, 1.7, 4), REFERENCES[name]
    np.testing.assert_allclose(kernel(x, z), reference(x, z), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(kernel.gram(x), reference(x, x), rtol=1e-10, atol=1e-7 if name == "matern" else 1e-14)
    np.testing.assert_array_equal(kernel.gram(x), kernel.gram(x).T)
    np.testing.assert_allclose(kernel.diagonal(x), np.diag(reference(x, x)), rtol=1e-12)
    assert kernel.against(z)(x, out := np.empty((700, 40))) is out and (out == kernel(x, z)).all()


@pytest.mark.parametrize("name", ["gaussian", "matern"])
def test_an_outlier_or_groups_far_apart_change_nothing_for_the_others(name):
    """Points are multiples of 2^-12, so that adding 2^32 rounds nothing."""
    x = np.round(np.random.default_rng(2).normal(size=(50, 3)) * 2**12) / 2**12
    exact = REFERENCES[name](x, x)
    for far in (np.full((1, 3), 1e11), x + 2**17, x + 2**32):
        found = Kernel(name, 1.7)(x, np.vstack([x, far]))
        np.testing.assert_allclose(found[:, :50], exact, rtol=1e-8, atol=1e-7)
        np.testing.assert_array_equal(found[:, 50:], 0.0)
    np.testing.assert_allclose(Kernel(name, 1.7)(far, np.vstack([x, far]))[:, 50:], exact, rtol=1e-8, atol=1e-7)


def test_a_callable_is_called_with_whole_sets():
    rng = np.random.default_rng(1)
    x, z, kernel = rng.normal(size=(50, 3)), rng.normal(size=(7, 3)), Kernel(laplacian_kernel)
    np.testing.assert_array_equal(kernel(x, z), laplacian_kernel(x, z))
    np.testing.assert_array_equal(kernel.gram(x), kernel.gram(x).T)
    np.testing.assert_allclose(kernel.diagonal(x), 1.0)
    with pytest.raises(ShapeError, match=r"\(50, 7\)"):
        Kernel(lambda x, z: np.ones(3))(x, z)
    assert kernel.against(z)(x, out := np.empty((50, 7))) is out and (out == kernel(x, z)).all()
    with pytest.raises(NotFiniteError, match="kernel"):
        Kernel(lambda x, z: np.full((len(x), len(z)), np.nan))(x, z)
    square = rng.normal(size=(3, 3))
    assert not np.may_share_memory(Kernel(lambda x, z: x)(square, square), square), "an alias of its argument"


@pytest.mark.parametrize("name", ["gaussian", "matern"])
def test_distances_survive_a_far_origin(name):
    x, z = (rng := np.random.default_rng(2)).normal(size=(30, 4)), rng.normal(size=(20, 4))
    np.testing.assert_allclose(Kernel(name)(x + 1e6, z + 1e6), Kernel(name)(x, z), atol=1e-8)
    huge = np.array([[1e200, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(Kernel(name)(huge, huge), np.eye(2))


def test_values_that_could_overflow_are_refused():
    for kernel, size in (Kernel("linear"), 1e50), (Kernel("polynomial", degree=2), 1e25), (Kernel(linear_kernel), 1e50):
        near, far, one = (np.array([[value]]) for value in (0.99 * size, 1.01 * size, 1.0))
        assert kernel(near, near) > 0.9e100
        for x, z in ((far, -far), (far, one), (one, far))[: 1 if callable(kernel.kernel) else 3]:
            with pytest.raises(ParameterError, match=r"k\(X, X'\) is 1.*at most 1e\+100: scale the inputs"):
                kernel(x, z)


def test_bad_settings_are_named_and_the_others_have_defaults():
    one, two = np.array([[1.0]]), np.array([[2.0]])
    assert Kernel()(one, two) == Kernel("gaussian", 1.0)(one, two) == np.exp(-0.5)
    assert Kernel("polynomial")(one, two) == 27.0
    assert [rows_per_block(n) for n in (0, 1, 64, 2**14, 2**20)] == [2**18, 2**18, 2**12, 16, 16]
    assert list(blocks(5, 2)) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    bad = {"kernel": ("rbf", None), "length_scale": (0.0, np.nan), "degree": (0, 1.5)}
    for name, value in [(name, value) for name, values in bad.items() for value in values]:
        with pytest.raises(ParameterError, match=name):
            Kernel(**{name: value})
