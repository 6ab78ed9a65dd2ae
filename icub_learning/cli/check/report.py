"""The findings of `check` in words, and as parameters to start with."""

from dataclasses import asdict
from textwrap import wrap

from icub_learning.cli.common.parameter_file import as_text as parameter_text
from icub_learning.dynamics.settings import DEFAULTS, Settings
from icub_learning.evaluation.robot_check.observation import OPEN, RIGHT, WRONG
from icub_learning.evaluation.robot_check.suite import Report
from icub_learning.nodes.inverse_dynamics.parameters import NodeSettings

WIDTH = 110  # characters in a line
MARKS = {RIGHT: "right", WRONG: "WRONG", OPEN: "?"}


def as_text(report: Report) -> str:
    """Return one paragraph for each finding, with its remedy, and a last line that counts what is wrong."""
    lines = []
    for finding in report.findings:
        head = f"{MARKS[finding.verdict]:6}{finding.name:17}"
        lines += wrap(finding.text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        if finding.remedy:
            lines += wrap(finding.remedy, WIDTH, initial_indent=" " * 23 + "-> ", subsequent_indent=" " * 26)
    faults = report.faults
    lines += ["", f"{len(faults)} wrong: {', '.join(faults)}" if faults else "nothing wrong was found"]
    return "\n".join(lines)


def parameters(report: Report, urdf: str) -> str:
    """Return a parameter file of the inverse dynamics node, with the URDF as the user names it."""
    settings = report.settings
    assert settings is not None
    own = "sensor" if settings.output == "wrench" else "friction"
    shown = {"urdf", "joints", "output", own, "estimator", "stamp_source"}
    every = asdict(settings) | {"urdf": urdf}
    values = {name: value for name, value in every.items() if name in shown or value != getattr(DEFAULTS, name)}
    for finding in report.findings:
        values |= {name: value for name, value in finding.settings.items() if name == "frame_id"}
    comment = "Made by icub-learning check; every parameter: docs/ros_interface.md."
    return parameter_text("inverse_dynamics", (Settings, NodeSettings), values, comment)
