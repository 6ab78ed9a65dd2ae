"""The list of known objects: searched, sorted, and with pictures that a browser loads when they are scrolled to."""

from collections.abc import Mapping
from html import escape

import viser

from icub_learning.view.page import style
from icub_learning.view.page.guard import PICTURES
from icub_learning.view.shown.known import NEWEST_FIRST, ORDERS, Known, Thumbnails, found, known_objects

MOST_ROWS = 1000  # of the list; a word finds the others


class ObjectsView:
    """Known objects in a box that scrolls, and above it what is searched for and how it is sorted.

    `counted` says what there is a number of, for each object; `orders` are those of ORDERS that are offered.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        counted: str,
        thumbnails: Thumbnails | None = None,
        orders: tuple[str, ...] = ORDERS,
    ) -> None:
        self._counted, self.thumbnails = counted, thumbnails
        self.words = server.gui.add_text("search", "", hint="words in the names of objects")
        self.order = server.gui.add_dropdown("sort", orders, initial_value=NEWEST_FIRST)
        self.table = server.gui.add_html(style.note("none yet"))
        self._asked: tuple[object, ...] = ()
        self._labels: list[str] = []

    def update(self, counts: Mapping[str, int], recall: Mapping[str, float]) -> list[str]:
        """Show the objects, and return the labels of those that were found, in the order of the list."""
        pictures = self.thumbnails.version if self.thumbnails is not None else 0
        asked = (counts, recall, self.words.value, self.order.value, pictures)
        if asked != self._asked:
            self._asked = asked
            rows = found(known_objects(counts, recall), self.words.value, self.order.value)
            said = style.note(f"{len(rows)} of {len(counts)} objects" if counts else "none yet")
            self.table.content = said + self._box(rows) if rows else said
            self._labels = [one.label for one in rows]
        return self._labels

    def _box(self, rows: list[Known]) -> str:
        lines = "".join(self._row(one) for one in rows[:MOST_ROWS])
        more = style.note(f"and {len(rows) - MOST_ROWS} more") if len(rows) > MOST_ROWS else ""
        return f'<div class="il-objects" tabindex="0">{lines}{more}</div>'

    def _row(self, one: Known) -> str:
        number = self.thumbnails.number(one.label) if self.thumbnails is not None else None
        picture = f'<img loading="lazy" alt="" src="{PICTURES}{number}">' if number is not None else ""
        frame = f'<span class="picture">{picture}</span>' if self.thumbnails is not None else ""
        sure = f'<span class="sure" title="named right when held back">{one.sureness}</span>' if frame else ""
        name = f'<span class="name" title="{escape(one.label)}">{escape(one.label)}</span>'
        return f'<div>{frame}{name}<span class="count">{one.count} {self._counted}</span>{sure}</div>'
