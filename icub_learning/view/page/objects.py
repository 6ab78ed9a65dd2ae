"""A list of known objects with pictures, to search and to sort, and forms to teach new ones."""

from html import escape
from typing import Any, NamedTuple

from viser import ViserServer

from icub_learning.view.page import style
from icub_learning.view.page.controls import Action, Choice, show
from icub_learning.view.page.guard import PICTURES
from icub_learning.view.shown.known import BY_COUNT, BY_NAME, NEWEST_FIRST, ORDERS, Thumbnails, found
from icub_learning.view.shown.state import Answer, Ask, State, Watcher

MOST_ROWS = 1000  # most rows of the list; a search finds the others
FRAMES, PATIENCE = 20, 20.0  # frames of a lesson, by default; [s] longest wait for these, and least for any number
SLOWEST = 1.0  # [s] longest time that a frame is expected to take
COLLECTED = 8.0  # [s] time for which images of an object are collected for the detector, by default


class ObjectsView:
    """Known objects in a box that scrolls, and above it the words to search for and the order.

    `counted` names what is counted for each object, such as frames; `orders` are those of ORDERS that are offered.
    """

    def __init__(self, server: ViserServer, counted: str, pictures: Thumbnails | None, orders: tuple[str, ...]) -> None:
        self._counted, self.thumbnails = counted, pictures
        self.words = server.gui.add_text("search", "", hint="words in the names of objects")
        self.order = server.gui.add_dropdown("sort", orders, initial_value=NEWEST_FIRST)
        self.table = server.gui.add_html(style.note("none yet"))
        self._asked: tuple[object, ...] = ()
        self._labels: list[str] = []

    def update(self, node: str, known: Watcher) -> list[str]:
        """Show the objects of a node, and return the labels of those that were found, in the order of the list."""
        pictures = self.thumbnails.version if self.thumbnails is not None else 0
        counts, recall = known.objects, known.recall
        asked = (node, list(counts.items()), recall, self.words.value, self.order.value, pictures)
        if asked != self._asked:
            self._asked = asked
            rows = found(counts, recall, self.words.value, self.order.value)
            said = style.note(f"{len(rows)} of {len(counts)} objects" if counts else "none yet")
            lines = ""
            for one in rows[:MOST_ROWS]:
                number = self.thumbnails.number(node, one.label) if self.thumbnails is not None else None
                picture = f'<img loading="lazy" alt="" src="{PICTURES}{number}">' if number is not None else ""
                frame = f'<span class="picture">{picture}</span>' if self.thumbnails is not None else ""
                sure = f'<span class="sure" title="named right when held back">{one.sureness}</span>' if frame else ""
                name = f'<span class="name" title="{escape(one.label)}">{escape(one.label)}</span>'
                lines += f'<div>{frame}{name}<span class="count">{one.count} {self._counted}</span>{sure}</div>'
            more = style.note(f"and {len(rows) - MOST_ROWS} more") if len(rows) > MOST_ROWS else ""
            self.table.content = said + (f'<div class="il-objects" tabindex="0">{lines}{more}</div>' if rows else "")
            self._labels = [one.label for one in rows]
        return self._labels


class Lesson(NamedTuple):
    """A request to learn: name of the service, the time that it may take [s], and the fields of the request.

    `said` is shown until it has ended. The browser's program sends what is typed at most every 50 ms, the latest
    message only, so that a value typed less than that before Enter does not arrive; `said` shows which one did.
    """

    said: str
    service: str
    takes: float
    fields: dict[str, Any]


class TaughtView:
    """A form to teach a node objects, and the objects that it knows, to forget them; subclasses add what differs."""

    title: str  # title of the form
    button: str
    hint: str  # hint of the button
    counted: str  # unit of the count of each object, such as frames
    orders: tuple[str, ...] = ORDERS  # orders in which objects may be sorted

    def __init__(self, server: ViserServer, choice: Choice, ask: Ask, thumbnails: Thumbnails | None = None) -> None:
        self._server, self._choice, self._ask = server, choice, ask
        gui = server.gui

        def teach() -> Answer:
            lesson = self.lesson(name.value.strip())
            return ask(choice.name, lesson.service, lesson.takes, **lesson.fields)

        with gui.add_form(self.title, visible=False) as form:
            name = gui.add_text("name", "", hint="of the object; a new name adds an object")
            self.add_fields()
            action = Action(server, self.button, teach, self.hint, lambda: self.lesson(name.value.strip()).said)
        form.on_submit(action.press)
        with gui.add_folder("Known objects", visible=False) as known:
            self.objects = ObjectsView(server, self.counted, thumbnails, self.orders)
            self.which = Choice(server, "object", "that is changed", "none is known")
            forgotten = "forgets the chosen object"
            Action(server, "Forget", lambda: ask(choice.name, "forget_object", label=self.which.name), forgotten)
            self.add_changes()
        self.parts = (form, known)

    def update(self, state: State) -> None:
        name = self._choice.name
        show(bool(name), *self.parts)
        self.which.offer(self.objects.update(name, (state.recognizers | state.detectors).get(name, Watcher())), 0)

    def add_fields(self) -> None:
        """Add the form's inputs below the name."""

    def add_changes(self) -> None:
        """Add what else can be done to a known object."""

    def lesson(self, label: str) -> Lesson:
        """Return the request to learn `label` with the form's inputs."""
        raise NotImplementedError


class TeachingView(TaughtView):
    """Teaches a recognizer what is in front of the camera; its objects can be renamed too."""

    title = "Teach what is in front of the camera"
    button, hint = "Teach", "learns the next frames under this name"
    counted = "frames"

    def add_fields(self) -> None:
        self._frames = self._server.gui.add_number("frames", FRAMES, min=1, max=1000, step=1, hint="that are learned")

    def add_changes(self) -> None:
        new = self._server.gui.add_text("new name", "")

        def rename() -> Answer:
            node, old, new_label = self._choice.name, self.which.name, new.value.strip()
            if self.objects.thumbnails is not None:
                self.objects.thumbnails.renaming = (node, old), (node, new_label)
            return self._ask(node, "rename_object", old_label=old, new_label=new_label)

        Action(self._server, "Rename", rename, "gives the chosen object the new name")

    def lesson(self, label: str) -> Lesson:
        frames = int(self._frames.value)
        patience = max(PATIENCE, SLOWEST * frames)
        fields = {"label": label, "n_frames": frames, "timeout": patience}
        return Lesson(f"learning {frames} frames of {label!r}", "teach", patience, fields)


class DetectionView(TaughtView):
    """Teaches a detector an object that is moved before the camera."""

    title = "Teach to find an object"
    button, hint = "Teach detector", "collects images, then trains"
    counted = "images"
    orders = (NEWEST_FIRST, BY_NAME, BY_COUNT)

    def add_fields(self) -> None:
        gui = self._server.gui
        self._seconds = gui.add_number("seconds", COLLECTED, min=0.5, max=600.0, step=0.5, hint="images are collected")
        self._source = gui.add_dropdown("boxes from", ("motion", "boxes"), hint="what moves, or another node's boxes")

    def lesson(self, label: str) -> Lesson:
        seconds = float(self._seconds.value)
        said = f"collecting images of {label!r} for {seconds:g} s, then training"
        fields = {"label": label, "seconds": seconds, "source": self._source.value}
        return Lesson(said, "teach_detection", seconds + PATIENCE, fields)
