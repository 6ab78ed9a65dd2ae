"""Available memory, so that arrays that cannot fit are refused before they are allocated."""

from contextlib import suppress
from pathlib import Path

UNKNOWN = 2**62  # [bytes] stands for "no limit reported by the system"
GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_bytes() -> int:
    """Return the memory [bytes] that the system and the limits of this process's control group leave."""
    left = [UNKNOWN]
    with suppress(OSError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        left += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    for limit, used in GROUPS:
        with suppress(OSError, ValueError):  # no such group, or no limit ("max")
            left.append(max(0, int(Path(limit).read_text()) - int(Path(used).read_text())))
    return min(left)
