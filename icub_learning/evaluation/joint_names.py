"""Joint names of a recording matched with those of a URDF from which they differ by a common prefix."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from icub_learning.errors import RecordingError
from icub_learning.recording.recording import Recording

SEPARATORS = "_/.:-"  # a prefix ends with one of these: "a1" and "b1" are two names, "a_1" and "b_1" differ by a prefix


@dataclass(frozen=True)
class JointMatch:
    """Renaming of a recording's joints to those of a URDF: the prefix `remove` is replaced by the prefix `add`."""

    remove: str  # prefix in the recording; empty where it has none
    add: str  # prefix in the URDF; empty where it has none
    # (n_joints,), joints of the URDF that the recording has, in the recording's order; or the wanted ones, in theirs
    joints: tuple[str, ...]
    others: tuple[str, ...]  # joints of the recording that the URDF lacks, as they are called after the match

    def rename(self, name: str) -> str:
        """Return a name of the recording as the URDF has it; unchanged without the prefix."""
        return self.add + name.removeprefix(self.remove) if name.startswith(self.remove) else name

    def applied(self, recording: Recording) -> Recording:
        """Return the recording with the names of the URDF."""
        if not self.remove and not self.add:
            return recording
        irregular = tuple(event._replace(names=tuple(map(self.rename, event.names))) for event in recording.irregular)
        return replace(recording, joint_names=tuple(map(self.rename, recording.joint_names)), irregular=irregular)

    @property
    def text(self) -> str:
        """The prefixes in words; "" where the names agree."""
        if self.remove and self.add:
            return f"joints are called {self.remove}* in the recording and {self.add}* in the URDF"
        if self.remove or self.add:
            where = "recording" if self.remove else "URDF"
            return f"joints have the prefix {self.remove or self.add!r} in the {where} only"
        return ""


def match_joints(recorded: Sequence[str], known: Sequence[str], wanted: Sequence[str] = ()) -> JointMatch:
    """Return the match of a recording's joint names with a URDF's, or the `wanted` ones, that finds the most joints.

    No prefix is tried if any of these joints has the same name in both. Raises RecordingError: no joint matches, or
    several prefixes match equally many.
    """
    targets = set(wanted) & set(known) if wanted else set(known)
    found: dict[tuple[str, str], set[str]] = {("", ""): targets & set(recorded)}
    if not found["", ""]:
        found |= _by_prefixes(recorded, targets)
    most = max(map(len, found.values()))
    best = [prefixes for prefixes, names in found.items() if len(names) == most]
    if wanted and not targets:
        best, most = [("", "")], len(wanted)  # the URDF has none of them: the error of reading it names them better
    if not most:
        text = f"no joint of the recording ({', '.join(recorded)}) is in the URDF ({', '.join(known)})"
        raise RecordingError(text, name="joints", value=tuple(recorded), bound="joints of the URDF")
    # Longer prefixes say the same as the shortest ones: "left_arm_" replaced by "arm_" is "left_" removed.
    shortest = min(len(remove) + len(add) for remove, add in best)
    best = sorted(pair for pair in best if sum(map(len, pair)) == shortest)
    if len(best) > 1:
        ways = " or ".join(f"{remove}* as {add}*" for remove, add in best)
        text = f"the recording's joints match the URDF's in several ways: {ways}; name the URDF's joints (--joints)"
        raise RecordingError(text, name="joints", value=tuple(recorded), bound="one match")
    match = JointMatch(*best[0], (), ())
    names = [match.rename(name) for name in recorded]
    joints = tuple(wanted) or tuple(name for name in names if name in targets)
    return replace(match, joints=joints, others=tuple(name for name in names if name not in known))


def _by_prefixes(recorded: Sequence[str], targets: set[str]) -> dict[tuple[str, str], set[str]]:
    """Return the joints that each pair of prefixes matches, the recording's prefix and the URDF's."""
    found: dict[tuple[str, str], set[str]] = {}
    for name, target in product(recorded, targets):
        for remove, add in product(_prefixes(name), _prefixes(target)):
            if name[len(remove) :] == target[len(add) :]:
                found.setdefault((remove, add), set()).add(target)
    return found


def _prefixes(name: str) -> list[str]:
    """Return the prefixes of a name that end with a separator and are shorter than the name, and the empty one."""
    return ["", *(name[: place + 1] for place, letter in enumerate(name[:-1]) if letter in SEPARATORS)]
