"""All checks in their order, each on what the ones before it have put right."""

from dataclasses import dataclass, replace

from icub_learning.dynamics.settings import Settings
from icub_learning.evaluation.robot_check import measurements, messages, motion, timing
from icub_learning.evaluation.robot_check.observation import WRONG, Finding, Observation

NEEDING_NAMES = motion.CHECKS + measurements.CHECKS  # joints that the URDF has, stamps that rise, and radians


@dataclass(frozen=True)
class Report:
    """What all checks found, in their order."""

    findings: tuple[Finding, ...]
    settings: Settings | None  # of the inverse dynamics node to start with; None where no joint is in the URDF

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of what is wrong, each once."""
        return tuple(dict.fromkeys(finding.name for finding in self.findings if finding.verdict == WRONG))


def check_robot(seen: Observation) -> Report:
    """Run all checks. Raises ModelError: the URDF cannot be read."""
    if not seen.recording.n_joint_states:
        text = "no joint state came"
        return Report((Finding("silence", WRONG, text, "check the topic, the domain and that the driver runs"),), None)
    findings: list[Finding] = []
    for check in messages.CHECKS + timing.CHECKS + NEEDING_NAMES:
        if check in NEEDING_NAMES and not (seen.joints and len(seen.recording.position)):
            continue
        for finding in check(seen):
            findings.append(finding)
            if finding.corrected is not None:
                seen = replace(seen, recording=finding.corrected)
    chosen = {name: value for finding in findings for name, value in finding.settings.items()}
    chosen.pop("frame_id", None)  # of the node, not of learning
    if not chosen.get("joints"):
        return Report(tuple(findings), None)
    return Report(tuple(findings), Settings(urdf=seen.urdf, sensor=seen.sensor, **chosen))  # type: ignore[arg-type]
