"""A headless Chromium that is installed on this machine, and a record of every request that its page makes."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from helpers.waiting import PATIENCE, wait_until

FLAGS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
# viser's ratio of computed pixels of the 3-D picture to pixels of the screen. The processor needs most of a second for
# a picture at full resolution, and the page handles messages only once per picture.
COARSE = "?fixedDpr=0.5"
NAMES = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Browser:
    """One page, with its requests, the errors of its scripts, and its messages to the server."""

    page: Any  # Playwright's page
    requests: list[str] = field(default_factory=list)  # requested addresses, including those of WebSockets
    errors: list[str] = field(default_factory=list)  # uncaught errors of its scripts
    sent: list[bytes] = field(default_factory=list)  # messages to the server, each in viser's format

    def follow(self, socket: Any) -> None:
        """Note what a WebSocket sends."""
        self.requests.append(socket.url)
        socket.on("framesent", lambda data: self.sent.append(data if isinstance(data, bytes) else data.encode()))

    def until(self, condition: Callable[[], Any], what: str) -> None:
        """Wait until a condition holds, while the browser works."""
        wait_until(condition, what, lambda: self.page.wait_for_timeout(100))

    def told(self, value: object, do: Callable[[], Any]) -> None:
        """Do something that makes the page send this value of an input to the server, and wait until it is sent."""
        before, ending = len(self.sent), b"value" + msgspec.msgpack.encode(value)
        do()
        self.until(lambda: any(one.endswith(ending) for one in self.sent[before:]), f"{value!r} to be sent")

    def hosts(self) -> set[str]:
        """Return the hosts that received requests; data: and blob: addresses stay in the page."""
        return {urlsplit(one).netloc for one in self.requests if not one.startswith(("data:", "blob:"))}

    def series(self) -> dict[str, list[list[float]]]:
        """Return the data of every plot of the page, by viser's name of the plot."""
        return self.page.evaluate(
            "() => Object.fromEntries(Object.entries((window.__viserTestpoints || {}).uplots || {})"
            ".map(([name, one]) => [name, one.chart.data.map((row) => Array.from(row))]))"
        )


def chromium() -> str:
    """Return the path of the browser; skip the test where there is none."""
    if (found := os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)) is None:
        pytest.skip("no Chromium: apt-get install chromium")
    return found


@contextmanager
def browsing(width: int = 1400, height: int = 900) -> Iterator[Browser]:
    """Start Chromium with an empty page of this size [px]."""
    with pytest.importorskip("playwright.sync_api").sync_playwright() as driver:
        # Its sandbox needs rights that containers do not give; the page is our own.
        program = driver.chromium.launch(executable_path=chromium(), args=FLAGS, chromium_sandbox=False)
        try:
            page = program.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(1e3 * PATIENCE)  # [ms]
            browser = Browser(page)
            page.on("request", lambda request: browser.requests.append(request.url))
            page.on("websocket", browser.follow)
            page.on("pageerror", lambda error: browser.errors.append(str(error)))
            yield browser
        finally:
            program.close()
