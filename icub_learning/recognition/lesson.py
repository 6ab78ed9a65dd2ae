"""A lesson: a number of frames that are learned under one label."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from icub_learning.arrays import integer
from icub_learning.errors import ParameterError
from icub_learning.recognition.classifiers.labels import check_label, shorten

UNKNOWN = "unknown"  # the label reported for unknown objects; no object may have it
MOST_FRAMES = 100_000  # largest number of frames in one lesson


def check_name(label: object, name: str = "label") -> str:
    """Return the label if it is valid, printable, without blanks at its ends, not "unknown". Raises ParameterError."""
    checked = check_label(label, name)
    if checked == UNKNOWN:
        raise ParameterError(name, checked, "another label: this one is reported for unknown objects")
    if checked != checked.strip() or not checked.isprintable():
        raise ParameterError(name, shorten(checked), "printable, without blanks at its ends")
    return checked


@dataclass
class Lesson:
    """An object that is being taught."""

    label: str  # name of the object
    n_frames: int  # number of frames to learn
    before: Mapping[str, Any] | None = None  # state of the recognizer before the lesson; None: nothing had been taught
    n_taken: int = 0  # frames learned so far
    n_refused: int = 0  # frames refused so far
    last_refusal: str = ""  # reason of the last refusal

    def __post_init__(self) -> None:
        check_name(self.label)
        integer("n_frames", self.n_frames, 1, MOST_FRAMES)

    @property
    def done(self) -> bool:
        """Whether all frames have been learned."""
        return self.n_taken == self.n_frames

    def progress(self) -> str:
        """Describe the frames learned and refused so far."""
        text = f"{self.n_taken} of {self.n_frames} frames"
        return f"{text}, and {self.n_refused} refused ({self.last_refusal})" if self.n_refused else text
