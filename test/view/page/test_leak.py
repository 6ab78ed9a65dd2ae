"""Pages that come and go leave nothing behind in the server."""

import asyncio
import gc
import time
from contextlib import AsyncExitStack, closing

from helpers.waiting import PATIENCE, wait_until

from benchmarks.page_reader import opened
from icub_learning.view.page.page import Page
from icub_learning.view.shown.state import Answer, State

TOGETHER = 5  # pages that are open at a time


def open_and_close(page: Page, turns: int) -> None:
    """Open and close pages in turn; return when all have gone."""

    async def together() -> None:
        async with AsyncExitStack() as pages:
            for _ in range(TOGETHER):
                socket = await pages.enter_async_context(opened(page.address))
                assert await asyncio.wait_for(socket.recv(), PATIENCE)

    for _ in range(turns):
        asyncio.run(together())
        page.update(State())
    wait_until(lambda: not page.server.get_clients(), "the end of pages that were closed")


def objects() -> int:
    """Count the objects of this process."""
    gc.collect()
    return len(gc.get_objects())


def test_objects_do_not_grow_with_the_pages_that_were_open():
    with closing(Page("127.0.0.1", 0, ask=lambda *_, **__: Answer(True, ""))) as page:
        open_and_close(page, 4)
        time.sleep(0.5)  # until threads of the server have let go of what they held; less were counted as a leak
        before = objects()
        open_and_close(page, 12)
        wait_until(lambda: objects() - before < TOGETHER * 12, "objects of closed pages to go")
