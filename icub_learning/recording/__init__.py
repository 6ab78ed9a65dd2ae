"""Recordings of robots in and out: rosbag2 (sqlite3, mcap), CSV and NPZ, all as one `Recording` of plain arrays."""

from icub_learning.recording.files import FORMATS, read, write
from icub_learning.recording.recording import JointStateEvent, Recording, WrenchEvent

__all__ = ["FORMATS", "JointStateEvent", "Recording", "WrenchEvent", "read", "write"]
