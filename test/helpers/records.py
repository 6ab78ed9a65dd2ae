"""Records of what a command found, printed and drew when its results were last read: no change goes unnoticed.
Other tests say whether results are right. A record is a nested table like the results themselves, with two numbers for
each list of numbers, and without what depends on the machine; `tools/record` finds out what that is."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isclose, isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgba_array
from matplotlib.figure import Figure

TOLERANCE = 1e-3  # relative; processors that round differently have to agree ten times as closely
ANY = "*"  # stands for what depends on the machine


def reduced(value: Any) -> Any:
    """Return nested tables with texts in place of numbers, and for lists of numbers a weighted sum and the RMS."""
    if isinstance(value, np.ndarray):
        return reduced(value.T.tolist())
    if isinstance(value, Mapping):
        return {str(name): reduced(one) for name, one in value.items()}
    if isinstance(value, list | tuple) and all(isinstance(one, int | float) for one in value):
        found = np.array([one for one in value if isfinite(one)] or [0.0], dtype=float)
        return f"{(1.0 + np.arange(len(found)) % 7 / 7) @ found:.6g} {np.sqrt(np.mean(found**2)):.6g}"
    if isinstance(value, list | tuple):
        return [reduced(one) for one in value]
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())


def common(old: Any, new: Any, tolerance: float) -> Any:
    """Return a record with ANY in place of all words in which other results differ."""
    if isinstance(old, dict) and isinstance(new, dict) and list(old) == list(new):
        return {name: common(one, new[name], tolerance) for name, one in old.items()}
    if isinstance(old, str) and isinstance(new, str) and len(old.split()) == len(new.split()):
        pairs = zip(old.split(), new.split(), strict=True)
        return " ".join(one if one == ANY or alike(one, other, tolerance) else ANY for one, other in pairs)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [common(*pair, tolerance) for pair in zip(old, new, strict=True)]
    return ANY


def alike(old: str, new: str, tolerance: float) -> bool:
    """Return whether two words are the same, or numbers that are close to each other and equally rounded."""
    words = [one.strip("%,:()±[]") for one in (old, new)]
    rounded = max(sum(map(str.isdigit, one)) for one in words) < 6  # as printed; others are results, in six digits
    try:
        close = isclose(*map(float, words), rel_tol=tolerance, abs_tol=1e-12)
    except ValueError:
        close = False
    return old == new or (close and not (rounded and len({len(one.partition(".")[2]) for one in words}) == 2))


@contextmanager
def drawn() -> Iterator[list[Any]]:
    """Collect what is drawn in the pictures that are saved meanwhile."""
    found: list[Any] = []
    save = Figure.savefig

    def saved(figure: Figure, file: Any, *args: Any, **options: Any) -> None:
        save(figure, file, *args, **options)
        legends = [one for one in (*figure.legends, *(axes.get_legend() for axes in figure.axes)) if one]
        named = [text.get_text() for legend in legends for text in legend.get_texts()]
        found.append({"legends": named, "panels": [seen(axes) for axes in figure.axes]})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saved)
        yield found


def seen(axes: Any) -> dict[str, Any]:
    """Return the texts, limits, lines, bars, filled shapes and coloured grids of a panel."""
    filled = [[path.vertices for path in one.get_paths()] for one in axes.collections]
    return {
        "texts": [text.get_text() for text in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)],
        "limits": [f"{limit:.6g}" for limit in (*axes.get_xlim(), *axes.get_ylim())],
        "lines": [[str(line.get_label()), *map(finite, line.get_xydata().T)] for line in axes.lines],
        "bars": [float(one) for patch in axes.patches for one in patch.get_window_extent().bounds],
        "filled": [[*map(finite, np.concatenate(each).T)] for each in filled if each],
        "coloured": [finite(c) for one in (*axes.collections, *axes.images) if (c := one.get_array()) is not None],
        "looks": Counter(look(one) for one in axes.findobj()),
    }


def look(artist: Any) -> str:
    """Return an artist's kind, whether it is visible, its depth in the picture, its line, size and colours."""
    names = ("zorder", "linestyle", "linewidth", "alpha", "marker", "fontsize")
    told = (getattr(artist, f"get_{name}", str)() for name in names)
    colours = (getattr(artist, f"get_{name}", list)() for name in ("color", "facecolor", "edgecolor"))
    shown = [to_hex(one, True) for each in colours if len(each) for one in to_rgba_array(each)[:3]]
    return " ".join(map(str, (type(artist).__name__, artist.get_visible(), *told, *shown)))


def finite(table: Any) -> list[float]:
    """Return the finite numbers of a table."""
    return [float(one) for one in np.ma.filled(np.ma.asarray(table, dtype=float), np.nan).ravel() if np.isfinite(one)]


def check(test: str, key: str, value: Any) -> None:
    """Compare with a record beside the file `test`. RECORD=new writes it anew, RECORD=narrow drops what differs."""
    path, found, how = Path(test).with_name("records.json"), reduced(value), os.environ.get("RECORD")
    records = json.loads(path.read_text()) if path.exists() else {}
    if how is None:
        assert common(records.get(key), found, TOLERANCE) == records.get(key)  # meant: tools/record
        return
    records[key] = found if how == "new" else common(records[key], found, TOLERANCE / 10)
    lines = (f"{json.dumps(name)}:{json.dumps(one, separators=(',', ':'))}" for name, one in sorted(records.items()))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
