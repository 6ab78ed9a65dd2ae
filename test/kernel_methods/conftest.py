"""The regression problem that most tests of kernel methods learn."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def data(request):
    """Return inputs (N, D) and targets (N, 2), the first one noisy; N and D, 3 by default, are the module's."""
    x = (rng := np.random.default_rng(0)).normal(size=(request.module.N, getattr(request.module, "D", 3)))
    return x, np.column_stack([np.sin(x[:, 0]) + 0.1 * rng.normal(size=len(x)), x[:, 1] * x[:, 2]])
