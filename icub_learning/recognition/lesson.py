"""A lesson: one name, taught with the frames that come, and what was known before it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.recognition.classifiers.labels import check_label, shorten

UNKNOWN = "unknown"  # the label of what is not known; no object may have it
MOST_FRAMES = 100_000  # of one lesson


def check_name(label: Any, name: str = "label") -> str:
    """Return a label that an object may have: a class's label, printable, not only blanks, and not "unknown".

    Raises:
        ParameterError: it is another.
    """
    label = check_label(label, name)
    if label == UNKNOWN:
        raise ParameterError(name, label, "another: it is what the robot says of objects that it does not know")
    if not label.strip() or not label.isprintable():
        raise ParameterError(name, shorten(label), "printable, and not only blanks")
    return label


@dataclass
class Lesson:
    """A name that is being taught.

    Attributes:
        label: name of the object.
        n_frames: frames to learn.
        before: saved state of all that was known before, or None for nothing.
        n_taken: frames learned so far.
        n_refused: frames that were refused since its start.
        last_refusal: why the last of them was.
    """

    label: str
    n_frames: int
    before: Mapping[str, Any] | None = None
    n_taken: int = 0
    n_refused: int = 0
    last_refusal: str = ""

    def __post_init__(self) -> None:
        check_name(self.label)
        if integer("n_frames", self.n_frames, 1) > MOST_FRAMES:
            raise ParameterError("n_frames", self.n_frames, f"within [1, {MOST_FRAMES}]")

    @property
    def done(self) -> bool:
        """Whether all frames have been learned."""
        return self.n_taken == self.n_frames

    def progress(self) -> str:
        """What has come so far, in words."""
        text = f"{self.n_taken} of {self.n_frames} frames"
        return f"{text}, and {self.n_refused} refused ({self.last_refusal})" if self.n_refused else text
