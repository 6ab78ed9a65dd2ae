"""Measure the cost of the page in a browser: the delay of predictions with and without it, its CPU time and memory."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.node import follow
from benchmarks.page_reader import read
from benchmarks.report import Result
from icub_learning.cli.demo.watching import free_port
from icub_learning.clients.processes import Processes, RosDomain

SECONDS, TURNS = 30.0, 7  # [s] of each run; runs with the page and runs without, in turns: their p99 differ by half
LEAK_SECONDS = 600.0  # [s] in which pages are opened and closed
PAGES, STAY = 10, 2.0  # pages that are open at a time; [s] that each stays open
SETTLED = 0.2  # share of the time after which memory is compared with that at the end
START_LIMIT = 60.0  # [s] for the page to come up


@dataclass
class Served:
    """A page: its address, and the process that serves it."""

    address: str
    pid: int


@contextmanager
def served(logs: Path) -> Iterator[Served]:
    """Serve a page of the nodes in this process' ROS domain."""
    with Processes(logs) as processes:
        port = free_port(8100)
        processes.start("view", [sys.executable, "-m", "icub_learning.cli", "view", "--port", str(port)], {})
        limit = time.monotonic() + START_LIMIT
        while "page:" not in (logs / "view.log").read_text(errors="replace"):
            processes.check()
            if time.monotonic() > limit:
                raise TimeoutError("the page did not come up")
            time.sleep(0.2)
        yield Served(f"http://127.0.0.1:{port}/", processes.pid("view"))


def run(quick: bool) -> Result:
    """Measure predictions with an open page and without, in turns; then the memory while pages come and go."""
    rows: list[dict[str, Any]] = []
    seconds, turns = (10.0, 1) if quick else (SECONDS, TURNS)
    with RosDomain() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(ROS_DOMAIN_ID=str(domain.number), ROS_AUTOMATIC_DISCOVERY_RANGE="LOCALHOST")
        logs = Path(folder)
        for turn in tqdm(range(turns), unit="turn"):
            rows += [_predictions(seconds, logs, opened) for opened in ((False, True), (True, False))[turn % 2]]
        remarks = _ratios(rows) + _leak(LEAK_SECONDS / 10 if quick else LEAK_SECONDS, logs)
    remarks.append(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end.")
    return Result(rows, remarks)


def _predictions(seconds: float, logs: Path, opened: bool) -> dict[str, Any]:
    """Return a row with the delay of predictions, beside a page that is read if `opened`."""
    with ExitStack() as stack:
        others = {}
        if opened:
            page = stack.enter_context(served(logs))
            others["page"] = page.pid
            reader = stack.enter_context(Processes(logs))
            reader.start("reader", [sys.executable, "-m", "benchmarks.page_reader", page.address], {})
        found, cost = follow("SP", seconds, logs, others)
    latency = found["latency_to_publication_s"]
    return {
        "page": "open" if opened else "none",
        "joint states": found["joint_states"],
        "without prediction": found["joint_states_without_prediction"],
        **{f"{key} ms": round(1e3 * latency[key], 2) for key in ("p50", "p99", "max")},
        "node on a core %": round(100 * cost["node"][0], 1),
        "page on a core %": round(100 * cost["page"][0], 1) if opened else 0.0,
    }


def _ratios(rows: list[dict[str, Any]]) -> list[str]:
    """Return the ratio of delays, each the median of its runs, in words."""
    found = []
    for key in ("p50 ms", "p99 ms"):
        medians = [sorted(row[key] for row in rows if row["page"] == page)[len(rows) // 4] for page in ("open", "none")]
        found.append(f"{key[:3]} with the page over that without (medians of runs): {medians[0] / medians[1]:.2f}")
    return found


def _leak(seconds: float, logs: Path) -> list[str]:
    """Open and close PAGES pages at a time, beside one that reads nothing; return the findings in words.

    No nodes run: a page without curves is opened and closed like any other, and memory that the server keeps shows.
    """
    with served(logs) as page, Processes(logs) as silent:
        silent.start("silent", [sys.executable, "-m", "benchmarks.page_reader", page.address, "--silent"], {})
        end, sizes, count = time.monotonic() + seconds, [], 0
        start = time.monotonic()
        with tqdm(total=round(seconds), unit="s", desc="pages come and go") as bar:
            while time.monotonic() < end:
                got = asyncio.run(_pages(page.address))
                assert all(messages for messages, _ in got), "a page got nothing beside one that does not read"
                count += len(got)
                sizes.append((time.monotonic() - start, _memory(page.pid)))
                bar.update(round(sizes[-1][0]) - int(bar.n))
    settled = next(size for when, size in sizes if when >= SETTLED * seconds)
    return [
        f"{count} pages in {seconds:.0f} s, {PAGES} at a time, beside one that does not read: memory of the server "
        f"{sizes[0][1]:.0f} MB at first, {settled:.0f} MB after a fifth of the time, {sizes[-1][1]:.0f} MB at the end.",
    ]


def _memory(pid: int) -> float:
    """Return the resident memory of a process [MB] (Linux)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


async def _pages(address: str) -> list[tuple[int, int]]:
    return list(await asyncio.gather(*(read(address, STAY) for _ in range(PAGES))))
