"""The table of `evaluate --table`: one row for each recording."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from icub_learning.cli.evaluate.cases import Case
from icub_learning.evaluation.judgement import Judgement, geometric_mean
from icub_learning.reporting.tables import number, table

RATIOS = ("SP/off-line", "SP/min(P,NP)", "worst SP/min(P,NP)", "smoothness", "coverage")
HEAD = ("mean", "mean", "worst", "smoothness", "coverage")
OVER = [("SP/off-line", 1), ("SP/min(P, NP)", 2), ("", 1), ("±2σ", 1)]  # headings, and columns below each
NOTE = """\
off-line: least squares on zero-phase filtered data of the part before. Means are geometric ones over the outputs.
smoothness: successive differences of SP's predictions relative to those of the measurements (standard deviations),
worst output. coverage: share of measurements within two predicted standard deviations, all outputs; 0.954 is ideal."""


def row_of(case: Case, judgement: Judgement, off_line_failure: str) -> dict[str, Any]:
    figures = {**judgement.nmse, "SP/min(P,NP)": judgement.relative_to_parts}
    figures |= {key: getattr(judgement, key) for key in ("smoothness", "coverage", "judged")}
    outputs = {name: {key: one[k] for key, one in figures.items()} for k, name in enumerate(judgement.output_names)}
    return {
        "recording": str(case.path), "remarks": list(case.remarks),
        "methods": [method for method in judgement.nmse if method != "hold"], **judgement.figures(),
        "outputs": outputs, "left_out": list(judgement.left_out), "off_line_failure": off_line_failure,
    }  # fmt: skip


def methods_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of all methods: off-line, P, NP, SP, and classes that users have named."""
    return list(dict.fromkeys(method for row in rows for method in row["methods"]))


def summary_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the geometric means over the recordings that have the figure."""
    keys = (*methods_of(rows), *RATIOS[:2])
    columns = {key: np.array([row.get(key, np.nan) for row in rows], dtype=float) for key in keys}
    return {key: geometric_mean(column[np.isfinite(column)]) for key, column in columns.items()}


def text(rows: Sequence[Mapping[str, Any]]) -> str:
    methods = methods_of(rows)
    shown = [*rows, {"recording": "all, geometric mean", **summary_of(rows)}] if len(rows) > 1 else rows
    cells = [[row["recording"], *(number(row.get(key)) for key in (*methods, *RATIOS))] for row in shown]
    lines = [table(["recording", *methods, *HEAD], cells, [("nMSE, geometric mean", len(methods)), *OVER]), "", NOTE]
    for row in rows:
        lines += [f"{row['recording']}: {remark}" for remark in row["remarks"]]
        if row["left_out"]:
            lines.append(f"{row['recording']}: mere quantization noise, left out: {', '.join(row['left_out'])}")
        if row["off_line_failure"]:
            lines.append(f"{row['recording']}: no off-line identification: {row['off_line_failure']}")
    return "\n".join(lines)
