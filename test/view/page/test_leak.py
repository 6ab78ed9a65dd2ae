"""Pages that come and go leave nothing behind in the server."""

import asyncio
import gc
import time

from benchmarks.page_reader import opened
from icub_learning.view.page.page import Page
from icub_learning.view.shown.answers import Answer
from icub_learning.view.shown.state import State

TOGETHER = 5  # pages that are open at a time
LIMIT = 20.0  # [s]


def open_and_close(page: Page, turns: int) -> int:
    """Open and close pages in turn; return the number of objects that are left when all have gone."""

    async def one() -> None:
        async with opened(page.address) as socket:
            assert await asyncio.wait_for(socket.recv(), LIMIT)

    async def together() -> None:
        await asyncio.gather(*(one() for _ in range(TOGETHER)))

    for _ in range(turns):
        asyncio.run(together())
        page.update(State())
    end = time.monotonic() + LIMIT
    counts = []
    while time.monotonic() < end and len(counts) < 5:
        time.sleep(0.2)
        gc.collect()
        if not page._server.get_clients():
            counts.append(len(gc.get_objects()))
    assert counts, "pages that were closed still count"
    return min(counts)


def test_objects_do_not_grow_with_the_pages_that_were_open():
    page = Page("127.0.0.1", 0, ask=lambda *_, **__: Answer(True, ""))
    try:
        before = open_and_close(page, 4)
        after = open_and_close(page, 12)
        assert after - before < TOGETHER * 12  # less than one for each page
    finally:
        page.close()
