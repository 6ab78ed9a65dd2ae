"""All checks in order, each on the recording as the checks before it have corrected it."""

from dataclasses import dataclass, replace

from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.robot_check import measurements, messages, motion, timing
from icub_learning.evaluation.robot_check.observation import WRONG, Finding, Observation

NEEDING_NAMES = motion.CHECKS + measurements.CHECKS  # checks that need joints of the URDF, rising stamps and radians


@dataclass(frozen=True)
class Report:
    """The findings of all checks, in order."""

    findings: tuple[Finding, ...]
    settings: Settings | None  # initial settings of the node; None: no joint is in the URDF, or it has no model

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the findings whose verdict is WRONG, each once."""
        return tuple(dict.fromkeys(finding.name for finding in self.findings if finding.verdict == WRONG))


def check_robot(seen: Observation) -> Report:
    """Run all checks. Raises ModelError: the URDF cannot be read."""
    if not seen.recording.n_joint_states:
        remedy = "check the topic, the domain and that the driver runs"
        return Report((Finding("silence", WRONG, "no joint state came", remedy),), None)
    findings: list[Finding] = []
    for check in messages.CHECKS + timing.CHECKS + NEEDING_NAMES:
        if check in NEEDING_NAMES and not (seen.joints and len(seen.recording.position)):
            continue
        for finding in check(seen):
            findings.append(finding)
            if finding.corrected is not None:
                seen = replace(seen, recording=finding.corrected)
    chosen = {name: value for finding in findings for name, value in finding.settings.items()}
    chosen.pop("frame_id", None)  # a parameter of the node, not a setting of learning
    if not (chosen.get("joints") and chosen.get("output")) or any(finding.name == "urdf" for finding in findings):
        return Report(tuple(findings), None)
    return Report(tuple(findings), Settings(urdf=seen.urdf, sensor=seen.sensor, **chosen))  # type: ignore[arg-type]
