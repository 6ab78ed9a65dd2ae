"""Teaching objects by mouse or keyboard: to a recognizer, or to a detector."""

import viser

from icub_learning.view.page.actions import Action
from icub_learning.view.page.choice import Choice, show
from icub_learning.view.page.objects import ObjectsView
from icub_learning.view.shown.answers import Answer, Ask
from icub_learning.view.shown.known import BY_COUNT, BY_NAME, NEWEST_FIRST, ORDERS, Thumbnails
from icub_learning.view.shown.state import State

FRAMES, PATIENCE = 20, 20.0  # that a lesson takes by default; [s] that it may take
COLLECTED = 8.0  # [s] that images of an object are collected for the detector


class TaughtView:
    """A form to teach a node objects, and those that it knows, to be forgotten; subclasses add what differs."""

    title: str  # of the form
    button: str
    hint: str  # of the button
    counted: str  # what there is a number of, for each object
    orders: tuple[str, ...] = ORDERS  # in which objects may be sorted

    def __init__(
        self, server: viser.ViserServer, choice: Choice, ask: Ask, thumbnails: Thumbnails | None = None
    ) -> None:
        self._server, self._choice, self._ask = server, choice, ask
        gui = server.gui
        with gui.add_form(self.title, visible=False) as form:
            name = gui.add_text("name", "", hint="of the object; a new name adds an object")
            self._add_fields()
            teach, asking = lambda: self._teach(name.value.strip()), lambda: self._asking(name.value.strip())
            action = Action(server, self.button, teach, self.hint, asking)
        form.on_submit(action.press)
        with gui.add_folder("Known objects", visible=False) as known:
            self.objects = ObjectsView(server, self.counted, thumbnails, self.orders)
            self.which = Choice(server, "object", "that is changed", "none is known")
            Action(server, "Forget", self._forget, "forgets the chosen object")
            self._add_changes()
        self.parts = (form, known)

    def update(self, state: State) -> None:
        """Show which objects are known; hide the form while there is no node to teach."""
        show(bool(self._choice.name), *self.parts)
        name = self._choice.name
        self.which.offer(self.objects.update(state.objects.get(name, {}), state.recall.get(name, {})), 0)

    def _add_fields(self) -> None:
        """Add the form's inputs below the name."""
        raise NotImplementedError

    def _add_changes(self) -> None:
        """Add what else can be done to a known object."""

    def _teach(self, label: str) -> Answer:
        raise NotImplementedError

    def _asking(self, label: str) -> str:
        """Return what is shown until the lesson has ended: what was asked for, as it was understood.

        The page's own program sends what is typed at most every 50 ms, the latest message only, so that a value typed
        less than that before Enter does not arrive; people see here which name and number did.
        """
        raise NotImplementedError

    def _forget(self) -> Answer:
        return self._ask(self._choice.name, "forget_object", label=self.which.name)


class TeachingView(TaughtView):
    """Teaches a recognizer what is in front of the camera; its objects can be renamed too."""

    title = "Teach what is in front of the camera"
    button, hint = "Teach", "learns the next frames under this name"
    counted = "frames"

    def _add_fields(self) -> None:
        self._frames = self._server.gui.add_number("frames", FRAMES, min=1, max=1000, step=1, hint="that are learned")

    def _add_changes(self) -> None:
        self._new = self._server.gui.add_text("new name", "")
        Action(self._server, "Rename", self._rename, "gives the chosen object the new name")

    def _teach(self, label: str) -> Answer:
        frames = int(self._frames.value)
        return self._ask(self._choice.name, "teach", takes=PATIENCE, label=label, n_frames=frames, timeout=PATIENCE)

    def _asking(self, label: str) -> str:
        return f"learning {int(self._frames.value)} frames of {label!r}"

    def _rename(self) -> Answer:
        old, new = self.which.name, self._new.value.strip()
        return self._ask(self._choice.name, "rename_object", old_label=old, new_label=new)


class DetectionView(TaughtView):
    """Teaches a detector an object that is moved before the camera."""

    title = "Teach to find an object"
    button, hint = "Teach detector", "collects images, then trains"
    counted = "images"
    orders = (NEWEST_FIRST, BY_NAME, BY_COUNT)

    def _add_fields(self) -> None:
        gui = self._server.gui
        self._seconds = gui.add_number("seconds", COLLECTED, min=0.5, max=600.0, step=0.5, hint="images are collected")
        self._source = gui.add_dropdown("boxes from", ("motion", "boxes"), hint="what moves, or another node's boxes")

    def _teach(self, label: str) -> Answer:
        seconds = float(self._seconds.value)
        given = {"label": label, "seconds": seconds, "source": self._source.value}
        return self._ask(self._choice.name, "teach_detection", seconds + PATIENCE, **given)

    def _asking(self, label: str) -> str:
        return f"collecting images of {label!r} for {float(self._seconds.value):g} s, then training"
