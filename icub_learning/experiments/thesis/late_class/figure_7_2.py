"""`reproduce figure-7.2`: what a late class gains and the others lose over the recoding alpha (thesis 7.6.3)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from icub_learning.arrays import Array
from icub_learning.experiments.options import Arguments, one_set, options, progress, seeds
from icub_learning.experiments.panels import Panel, draw
from icub_learning.experiments.thesis.late_class import protocol
from icub_learning.experiments.thesis.late_class.table_7_1 import DATA_HELP, DATA_SETS, N_IMB, load_examples
from icub_learning.reporting.tables import save_figures, table

DESCRIPTION = """\
Algorithm 2 of the thesis with every alpha in [0, 1]: for each number of examples of the late class and each alpha,
lambda is the one with the most held-out examples of the other classes right, and the accuracy on test examples is that
of the late class and of the others. Data sets as in table-7.1; the published figure is on iCubWorld28 and has no
numbers: as alpha grows, the late class gains and the others lose, so that there is an alpha which costs them nothing.
That alpha is printed: the largest one at which the others keep at least the accuracy they have at alpha = 0, less 0.1
points, and what the late class gains by it."""
FREE = 0.001  # accuracy of the others that an alpha may cost and still count as free
QUICK = ("--quick", "--draws", "2")
add_options = options("the draws", on=DATA_SETS, chosen=["mnist"], data=DATA_HELP, quick=True, draws=5)


def run(args: Arguments) -> None:
    figures: dict[str, Any] = {"seed": args.seed, "draws": args.draws, "recodings": protocol.RECODINGS}
    panels = []
    for name in one_set(args):
        n_bal, n_test, most = (100, 50, 50) if args.quick else DATA_SETS[name]
        sizes = protocol.Sizes(n_bal, n_test, tuple(n for n in N_IMB if n <= most))
        examples = load_examples(name, args.data, n_bal + sizes.n_val + n_test, args.out)
        levels = protocol.LAMBDAS[2:5] if args.quick else protocol.LAMBDAS
        outcomes = [
            sweep(protocol.split(examples, sizes, np.random.default_rng(seed)), sizes.n_imb, levels)
            for seed in progress(seeds(args), name)
        ]
        mean = np.mean(outcomes, axis=0)  # axes: late class or others, n_imb, alpha
        figures[name] = {"n_imb": sizes.n_imb, "late": mean[0], "others": mean[1]}
        print(_text(name, sizes, args.draws, mean), flush=True)
        for title, rows in zip(("late class", "the others"), 100 * mean, strict=True):
            pairs = zip(sizes.n_imb, rows, strict=True)
            lines = {f"{n} example{'s' * (n > 1)}": (protocol.RECODINGS, row) for n, row in pairs}
            panels.append(Panel(f"{name}: {title}", "α", "accuracy [%]", lines, linear_x=True, linear_y=True))
    draw(args.out / "figure-7.2.png", "Recoding: what a late class gains and the others lose", panels, columns=2)
    save_figures(args.json, figures)


def sweep(drawn: protocol.Split, n_imb: Sequence[int], regularizations: Sequence[float]) -> Array:
    """Return accuracies of the late class and of the others with the best lambda: (2, n_imb, alpha), in [0, 1]."""
    last = drawn.test_classes == len(drawn.train) - 1
    found = np.empty((2, len(n_imb), len(protocol.RECODINGS)))
    for place, (_, classifiers, log_ratio) in enumerate(protocol.grown(drawn, n_imb, regularizations)):
        held = [one.scores(drawn.validation) for one in classifiers]
        best = np.argmax([protocol.count_correct(one, drawn.validation_classes, log_ratio) for one in held], axis=0)
        scores = [one.scores(drawn.test) for one in classifiers]
        for what, some in enumerate((last, ~last)):
            right = np.array([protocol.count_correct(one[some], drawn.test_classes[some], log_ratio) for one in scores])
            found[what, place] = right[best, np.arange(len(protocol.RECODINGS))] / some.sum()
    return found


def _text(name: str, sizes: protocol.Sizes, draws: int, mean: Array) -> str:
    rows = []
    for place, n in enumerate(sizes.n_imb):
        late, others = 100 * mean[:, place]
        free = int(np.flatnonzero(others >= others[0] - 100 * FREE)[-1])
        cells = [f"{value:.1f}" for pair in ((late[k], others[k]) for k in (0, free, -1)) for value in pair]
        rows.append([str(n), *cells[:2], f"{protocol.RECODINGS[free]:g}", *cells[2:]])
    head = ["examples", "late", "others", "alpha", "late", "others", "late", "others"]
    over = [("alpha = 0", 2), ("largest that costs nothing", 3), ("alpha = 1", 2)]
    title = f"{name}: n_bal {sizes.n_bal}, {draws} draws, accuracy [%]\n"
    text = "Published: a picture without numbers, in which the late class gains and the others lose as alpha grows.\n"
    return f"{title}{table(head, rows, over)}\n{text}"
