"""`reproduce tensor-layout`: tensor kernels: entries and memory of the packed layout beside the full one."""

from time import process_time
from typing import Any

import numpy as np

from icub_learning.experiments.figures import THEORY, Comparison, Comparisons, Figures, conclude
from icub_learning.experiments.options import Arguments, options
from icub_learning.experiments.panels import Panel, draw
from icub_learning.kernel_methods.tensor.dual_losses import Square
from icub_learning.kernel_methods.tensor.sparse_dual import TensorPenalty, solve
from icub_learning.kernel_methods.tensor.symmetric_tensor import SymmetricTensor, n_entries
from icub_learning.reporting.tables import table

DESCRIPTION = """\
Table 1 and figure 15: a symmetric tensor of order 4 has C(n + 3, 4) different entries among n^4. Times of both layouts
are in tensor-wpbc, for few features, and in tensor-synthetic, for many."""
PUBLISHED_COUNTS = {10: 715, 50: 292_825, 100: 4_421_275}
PUBLISHED_LARGEST = (399, 181)  # largest n that fits into 8 GB, packed and full
DEGREE = 2  # degree of the polynomial tensor kernel; the source uses it on WPBC
MOST_FULL = 2**31  # largest full tensor [bytes]
QUICK = ()
add_options = options()


def run(args: Arguments) -> None:
    counts = {n: n_entries(n, 4) for n in PUBLISHED_COUNTS}
    entries = (lambda n: n_entries(n, 4), lambda n: n**4)  # packed, full
    largest = [max(n for n in range(1, 1000) if 8 * number_of(n) <= 2**33) for number_of in entries]
    cells = [[str(n), str(n**4), str(ours), str(PUBLISHED_COUNTS[n])] for n, ours in counts.items()]
    print(table(["n", "n^4", "packed", "published"], cells))
    print(f"largest n in 8 GiB: {largest[0]} packed, {largest[1]} full; published {PUBLISHED_LARGEST}")
    grid = range(1, 401)
    lines = {"full": (grid, [8e-9 * k**4 for k in grid]), "packed": (grid, [8e-9 * n_entries(k, 4) for k in grid])}
    panel = Panel("figure 15: memory", "samples n", "memory [GB]", lines, {"8 GB": ((1, 400), (8.0, 8.0))})
    draw(args.out / "tensor-layout.png", "Tensor kernels of order 4", [panel])
    conclude(args, {"counts": counts, "largest": largest, "published": PUBLISHED_COUNTS}, comparisons)


def comparisons(found: Figures) -> Comparisons:
    for n, published in PUBLISHED_COUNTS.items():
        yield Comparison(f"packed entries, n {n}", found["counts"][str(n)], published, kind=THEORY)
    for kind, ours, published in zip(("packed", "full"), found["largest"], PUBLISHED_LARGEST, strict=True):
        yield Comparison(f"largest n in 8 GiB, {kind}", ours, published, "more", THEORY)


def compare(n: int, x: Any, y: Any, degree: int = DEGREE, gamma: float = 1.0) -> dict[str, Any]:
    """Time both layouts of the kernel S^degree, S = sum_j x_1j ... x_4j (tensor kernels, 4.33), on x (n, d), y (n,).

    Returns "n"; for "packed" and, where it fits, "full", the processor time [s] of "build", "train" and
    "total"; and the largest "difference" of the two solutions.
    """
    found: dict[str, Any] = {"n": n}
    solutions = {}
    for name in ("packed", "full") if 8 * n**4 <= MOST_FULL else ("packed",):
        start = process_time()
        tensor: Any = FullTensor(x, degree) if name == "full" else SymmetricTensor(n, 4)
        if name == "packed":
            tensor.fill(x, np.ones(x.shape[1]), lambda values: _raise(values, degree))
        built = process_time()
        solutions[name] = solve(TensorPenalty(tensor), Square(), y, gamma, 1e-12, 1000).a
        end = process_time()
        found[name] = {"build": built - start, "train": end - built, "total": end - start}
    if len(solutions) == 2:
        found["difference"] = float(np.abs(solutions["full"] - solutions["packed"]).max())
    return found


class FullTensor:
    """All n^4 entries of the polynomial tensor kernel, contracted by matrix products."""

    order = 4

    def __init__(self, x: Any, degree: int = DEGREE) -> None:
        pairs = (x[:, None] * x[None]).reshape(-1, x.shape[1])
        self._entries = pairs @ pairs.T
        _raise(self._entries, degree)
        self.n = len(x)

    def gradient(self, a: Any) -> Any:
        """Return T(., a, a, a), (n,)."""
        return self.derivatives(a)[1]

    def derivatives(self, a: Any) -> Any:
        """Return T(a, a, a, a), its gradient over 4 and its second derivatives over 4."""
        matrix = (self._entries @ np.outer(a, a).ravel()).reshape(self.n, self.n)
        return float(a @ matrix @ a), matrix @ a, 3 * matrix


def _raise(values: Any, degree: int) -> None:
    if degree > 1:
        np.power(values, degree, out=values)
