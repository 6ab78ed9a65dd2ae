"""Available memory, so that arrays that cannot fit are refused before they are allocated."""

from pathlib import Path

UNKNOWN = 2**62  # bytes, where the system reports no limit


def available_bytes() -> int:
    """Return the memory that the system and the limits of this process's control group leave."""
    return min(_system(), _group())


def _system() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return UNKNOWN


def _group() -> int:
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return UNKNOWN
