"""How each experiment runs for the page, at full length and in the quick form."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Command-line arguments of one experiment, at full length and in the quick form.

    Attributes:
        full, quick: arguments of `icub-learning reproduce NAME`.
        out: whether it takes --out, for pictures and what else it keeps.
    """

    full: tuple[str, ...] = ()
    quick: tuple[str, ...] = ("--quick",)
    out: bool = True

    def arguments(self, quick: bool) -> tuple[str, ...]:
        """Return the arguments of one of the two forms."""
        return self.quick if quick else self.full


# Those that are not `Plan()`.
PLANS = {
    "table-4.1": Plan(quick=("--quick", "--draws", "1")),
    "figure-5.2": Plan(quick=("--quick", "--draws", "20")),
    "figure-5.3": Plan(quick=("--quick", "--draws", "2")),
    "figure-7.1": Plan(quick=("--samples", "4000")),
    "figure-7.2": Plan(quick=("--quick", "--draws", "2")),
    "table-7.1": Plan(quick=("--on", "mnist", "--trials", "1")),
    "figure-8.4": Plan(quick=("--samples", "200")),
    "polk-multidist": Plan(quick=("--draws", "1")),
    "polk-curves": Plan(quick=("--quick", "--draws", "1")),
    "polk-convergence": Plan(quick=("--quick", "--draws", "1")),
    "tensor-layout": Plan(quick=("--samples", "30", "60")),
    "tensor-synthetic": Plan(full=("--large",)),
    "tensor-selection": Plan(quick=("--draws", "1")),
    "tensor-wpbc": Plan(quick=("--splits", "1", "--draws", "2")),
    "detection": Plan(quick=("--scenes", "20", "--tests", "10"), out=False),
    "recognition": Plan(quick=("--parts", "views", "--seeds", "0")),
    "change": Plan(quick=("--parts", "consistency", "--seeds", "0", "--excitations", "1000"), out=False),
}
