"""Draw docs/pictures/core_step.png and round_trip.png from the tables of docs/performance.md, so that both agree.

usage: python tools/draw_performance.py
"""

import re
from pathlib import Path

from icub_learning.reporting.colours import BLUE, GREEN, GREY, INK, PALE, RED, YELLOW
from icub_learning.reporting.plots import new_figure, save

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENT = CHECKOUT / "docs" / "performance.md"
PICTURES = CHECKOUT / "docs" / "pictures"
METHODS = {  # names in the first table, and their labels in the legend
    "ours, AVX-512": "this package",
    "Sherman–Morrison (dsymv, dsyr)": "Sherman–Morrison",
    "hyhound, two triangular solves": "hyhound",
    "eigenpy, LLT.rankUpdate and solve": "eigenpy",
    "refactorization (LAPACK)": "solving anew",
    "padasip FilterRLS, one for each output": "padasip",
    "memory floor": "reading and writing the triangle once",
}


LINES = (BLUE, GREEN, RED, YELLOW, INK, GREY, PALE)
BARS = (GREY, BLUE)


def table(heading: str) -> list[list[str]]:
    """Return the cells of the first table below a heading, its head included."""
    text = DOCUMENT.read_text()
    rows = re.search(r"((?:^\|.*\n)+)", text[text.index(heading) :], re.M)
    assert rows is not None
    cells = [[cell.strip() for cell in row.strip("| \n").split("|")] for row in rows[1].splitlines()]
    return [cells[0], *cells[2:]]


def number(cell: str) -> float | None:
    """Return a cell as a number, None for a dash."""
    return None if cell == "–" else float(cell)


def draw_core_step() -> None:
    """Draw the time of a step over the number of features, a line for each method."""
    head, *rows = table("### One step at T = 6")
    sizes = [int(re.sub(r"\D", "", cell)) for cell in head[1:]]
    figure = new_figure(9.0, 4.0)
    axes = figure.add_subplot(xscale="log", yscale="log", xlabel="features", ylabel="µs")
    for (name, label), colour in zip(METHODS.items(), LINES, strict=True):
        times = next([number(cell) for cell in row[1:]] for row in rows if row[0] == name)
        shown = [(size, time) for size, time in zip(sizes, times, strict=True) if time is not None]
        width = 2.5 if name.startswith("ours") else 1.5
        axes.plot(*zip(*shown, strict=True), "o-", color=colour, label=label, linewidth=width)
    axes.minorticks_off()
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set_title("Predict, learn one sample, have the new weights; 6 outputs", loc="left")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    save(figure, PICTURES / "core_step.png")


def draw_round_trip() -> None:
    """Draw median and 99th percentile of round trips over the rate, of the node and of an echo node."""
    head, *rows = table("## Round trips")
    rates = [row[0] for row in rows]
    figure = new_figure(8.0, 3.5)
    axes = figure.add_subplot(xlabel="joint states per second", ylabel="ms")
    for place, (who, start) in enumerate((("echo node", 1), ("inverse_dynamics", 4))):
        assert head[start].endswith("p50") and head[start + 1] == "p99"
        middles = [index + 0.3 * (place - 0.5) for index in range(len(rates))]
        for offset, (what, alpha) in enumerate((("p99", 0.45), ("p50", 1.0))):
            heights = [float(row[start + 1 - offset]) for row in rows]
            axes.bar(middles, heights, 0.28, color=BARS[place], alpha=alpha, label=f"{who}, {what}")
    axes.set_xticks(range(len(rates)), rates)
    axes.set_title("Round trip of a joint state between two processes", loc="left")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    save(figure, PICTURES / "round_trip.png")


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    draw_core_step()
    draw_round_trip()
