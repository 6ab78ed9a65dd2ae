"""Reading and writing recordings of robots: rosbag2 (sqlite3, mcap), CSV and NPZ, as a `Recording` of arrays."""

from icub_learning.recording.files import read, write
from icub_learning.recording.recording import JointStateEvent, Recording, WrenchEvent

__all__ = ["JointStateEvent", "Recording", "WrenchEvent", "read", "write"]
