"""The report of the demonstration: tables and pictures of its parts in one HTML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icub_learning.cli.demo import changes, objects_report, report
from icub_learning.cli.report import Block, write_report

TITLE = "A simulated iCub learns its arm and objects, live"


def write(path: Path, figures: Mapping[str, Any], folder: Path) -> None:
    """Write the report of the parts that ran: figures as in demo.json, and the pictures of the folder."""
    blocks = []
    if "rmse" in figures:
        blocks.append(Block("Inverse dynamics", report.text(figures), [folder / "demo.png"]))
    if "objects" in figures:
        blocks.append(Block("Objects", objects_report.text(figures["objects"]), [folder / "objects.png"]))
    if "changes" in figures:
        blocks.append(Block("Loads and pushes", changes.text(figures["changes"]), [folder / "changes.png"]))
    write_report(path, TITLE, blocks)
