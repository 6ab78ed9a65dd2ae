"""The choice among the versions of compiled modules."""

from pathlib import Path

import pytest

from icub_learning.dynamics.motion import _motion_filter
from icub_learning.features import _fourier
from icub_learning.kernel_methods.online import _pursuit
from icub_learning.kernel_methods.tensor import _symmetric
from icub_learning.recursive import _cholesky


@pytest.mark.parametrize("module", [_cholesky, _fourier, _pursuit, _symmetric, _motion_filter], ids=str)
def test_the_portable_version_is_always_there_the_best_one_is_in_use_and_an_unknown_one_is_refused(module):
    names = module.available()
    assert names[0] == "portable" and names == ["portable", "avx2", "avx512"][: len(names)]
    flags = Path("/proc/cpuinfo").read_text().split()
    assert ("avx2" in names) == ("avx2" in flags and "fma" in flags) and module.use(names[-1]) == names[-1]
    module.use("portable")
    with pytest.raises(ValueError, match="sse9"):
        module.use("sse9")
    assert module.use(names[-1]) == "portable"
