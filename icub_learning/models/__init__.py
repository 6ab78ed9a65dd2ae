"""Models as files: states as dicts of arrays, .npz files of them that are checked, and folders of such files."""

from icub_learning.models.files import load_state, read_model, save_state, write_model
from icub_learning.models.header import ModelHeader
from icub_learning.models.states import check_version, nested, part, reading_state, scalar

__all__ = [
    "ModelHeader", "check_version", "load_state", "nested", "part", "read_model", "reading_state", "save_state",
    "scalar", "write_model",
]  # fmt: skip
