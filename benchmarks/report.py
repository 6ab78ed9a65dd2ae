"""Results of a benchmark: a table as text, JSON with the machine that it ran on, and a picture."""

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from icub_learning.reporting import page

PACKAGES = ("numpy", "scipy", "eigenpy", "numba", "hyhound", "padasip", "river")


@dataclass
class Result:
    """Rows of figures (with equal keys), remarks in words, and `draw(figure)` for a matplotlib figure or None."""

    rows: list[dict[str, Any]]
    remarks: list[str] = field(default_factory=list)
    draw: Callable[[Any], None] | None = None

    def table(self) -> str:
        """Return the rows as text with aligned columns, and the remarks."""
        columns = list(self.rows[0])
        lines = [columns, *([_text(row[column]) for column in columns] for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
        text = [" ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([text[0], "-" * len(text[0]), *text[1:], *self.remarks])

    def write(self, path: Path) -> None:
        """Print the table; write PATH.txt, PATH.json and, where there is something to draw, PATH.png."""
        print(self.table(), flush=True)
        path.with_suffix(".txt").write_text(self.table() + "\n")
        found = {"machine": machine(), "rows": self.rows, "remarks": self.remarks}
        path.with_suffix(".json").write_text(json.dumps(found, indent=1, allow_nan=False) + "\n")
        if self.draw:
            import matplotlib

            matplotlib.use("Agg")
            from matplotlib.figure import Figure

            figure = Figure(figsize=(10, 4.5), layout="constrained")
            self.draw(figure)
            figure.savefig(path.with_suffix(".png"), dpi=120)

    def parts(self, name: str, description: str, path: Path) -> list[str]:
        """Return the result as a section of a page; `path` is what `write` was given."""
        rows = [[_text(value) for value in row.values()] for row in self.rows]
        found = [page.section(name), page.paragraph(description), page.table(list(self.rows[0]), rows)]
        if self.draw:
            found.append(page.picture(path.with_suffix(".png")))
        return [*found, *(page.paragraph(remark, "note") for remark in self.remarks)]


def machine() -> dict[str, Any]:
    """Return what the figures depend on: date, processor, load, and versions of system and packages."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    return {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "processor": page.describe_machine()["processor"],
        "cores": os.cpu_count(),
        "cores allowed": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load average": os.getloadavg(),
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": packages,
    }


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return np.format_float_positional(value, precision=4, unique=False, fractional=False, trim="-")
    return str(value)
