"""All checks in their order, each on what the ones before it have put right."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.robot_check.content import check_numbers, check_outputs
from icub_learning.evaluation.robot_check.gravity import check_gravity
from icub_learning.evaluation.robot_check.names import check_names
from icub_learning.evaluation.robot_check.observation import OPEN, WRONG, Finding, Observation
from icub_learning.evaluation.robot_check.rates import check_motion, check_rates
from icub_learning.evaluation.robot_check.sensor import check_frame, check_frozen, check_lever
from icub_learning.evaluation.robot_check.stamps import check_clocks, check_stamps
from icub_learning.evaluation.robot_check.topics import check_publishers, check_qos
from icub_learning.evaluation.robot_check.units import check_positions
from icub_learning.evaluation.robot_check.velocities import check_velocities

Check = Callable[[Observation], list[Finding]]
# Later ones need joints that the URDF has, stamps that rise, and radians.
CHECKS: tuple[Check, ...] = (
    check_publishers,
    check_qos,
    check_numbers,
    check_outputs,
    check_names,
    check_stamps,
    check_clocks,
    check_rates,
    check_positions,
    check_velocities,
    check_motion,
    check_frame,
    check_frozen,
    check_lever,
    check_gravity,
)
NEEDING_NAMES = (check_positions, check_velocities, check_motion, check_frame, check_frozen, check_lever, check_gravity)


@dataclass(frozen=True)
class Report:
    """What all checks found."""

    findings: tuple[Finding, ...]  # in the order of the checks
    settings: Settings | None  # settings of the inverse dynamics node to start with; None where no joint is in the URDF

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of what is wrong, each once, in the order of the checks."""
        return tuple(dict.fromkeys(finding.name for finding in self.findings if finding.verdict == WRONG))


def check_robot(seen: Observation) -> Report:
    """Run all checks. Raises ModelError: the URDF cannot be read."""
    findings: list[Finding] = []
    if not seen.recording.n_joint_states:
        text = "no joint state came"
        return Report((Finding("silence", WRONG, text, "check the topic, the domain and that the driver runs"),), None)
    for check in CHECKS:
        if check in NEEDING_NAMES and not (seen.joints and len(seen.recording.position)):
            continue
        for finding in check(seen):
            findings.append(finding)
            if finding.corrected is not None:
                seen = replace(seen, recording=finding.corrected)
    return Report(tuple(findings), _starting_settings(seen, findings))


def _starting_settings(seen: Observation, findings: list[Finding]) -> Settings | None:
    """The defaults, with what follows from the findings."""
    chosen: dict[str, object] = {}
    for finding in findings:
        chosen |= finding.settings
    chosen.pop("frame_id", None)  # of the node, not of learning
    if not chosen.get("joints"):
        return None
    if seen.sensor:
        chosen["sensor"] = seen.sensor
    return replace(Settings(), urdf=seen.urdf, **chosen)  # type: ignore[arg-type]


def open_questions(report: Report) -> tuple[str, ...]:
    """Return the names of what could not be judged."""
    return tuple(finding.name for finding in report.findings if finding.verdict == OPEN)
