"""The page as a whole: the layout of its parts, and one update of all of them."""

import contextlib
import io
import socket
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import viser

from icub_learning.errors import IcubLearningError
from icub_learning.view.page import style
from icub_learning.view.page.controls import Choice, Player, show
from icub_learning.view.page.curves import CurvesView, ErrorsView, WeightsView
from icub_learning.view.page.guard import Guard, guarding, is_local
from icub_learning.view.page.nodes import BodyView, ModelsView, NodesView
from icub_learning.view.page.objects import DetectionView, TeachingView
from icub_learning.view.page.pictures import CameraView, DoingView
from icub_learning.view.page.robot import RobotView
from icub_learning.view.shown.known import Thumbnails
from icub_learning.view.shown.state import Ask, State

LEFT, RIGHT = 330, 430  # [px] widths of the panels
BRAND = (24, 74, 112)  # RGB colour of the theme, dark blue
MOST_LINES = 4  # most lines with errors and with what is not drawn as it is
START = "Start one, for instance with: icub-learning launch simulation (in the same ROS domain)."
WAITING = f"No learner of inverse dynamics is running here. {START}"
NOTHING_PREDICTED = "Measurements alone: name --urdf, --joints and --output, and what is learned is shown too."


class Page:
    """A page at `address`. Raises IcubLearningError: the port is taken, or may not be used."""

    def __init__(
        self,
        host: str,  # address to listen on
        port: int,  # port to listen on; 0 takes a free one
        token: str = "",  # token that requests must carry; "" for none, only if the host is local
        ask: Ask | None = None,  # function that calls services; None: no services, and no buttons
        folder: Path | None = None,  # output folder of a program whose progress and pictures are shown
        duration: float | None = None,  # length [s] of a recording to play with the slider `player`
        predicted: bool = True,  # whether there are predictions, not measurements alone
    ) -> None:
        assert token or is_local(host)
        self.thumbnails = Thumbnails()
        self.server = server = start(host, port, token, self.thumbnails)
        name = socket.gethostname() if host in ("", "0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        self.address = f"http://{name}:{server.get_port()}/" + (f"?token={quote(token, safe='')}" if token else "")
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
        server.scene.set_background_image(None)
        server.scene.world_axes.visible = False
        # Nothing on the page casts a shadow, but lights that could cost time at each point of each surface.
        server.scene.configure_default_lights(cast_shadow=False)
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT)
        gui.set_panel_label("icub_learning")
        gui.add_html(style.SHEET)
        self.said: list[str] = []
        self._note = gui.add_html("", visible=False)
        self.player = Player(server, duration) if duration is not None else None
        self._choice = Choice(server, "learner")
        self.waiting = gui.add_html(style.note(WAITING if predicted else NOTHING_PREDICTED))
        tabs = gui.add_tab_group()
        with tabs.add_tab("Motion", viser.Icon.CHART_LINE):
            self.errors = ErrorsView(server) if predicted else None
            self.curves = CurvesView(server, predicted)
            if ask is not None:
                self.weights = WeightsView(server)
        self.robot = RobotView(server, self._say)
        self._live, self._predicted = ask is not None, predicted
        self.doing: DoingView | None = None
        if ask is not None:
            with tabs.add_tab("Body", viser.Icon.SCALE):
                self.body = BodyView(server, self._choice, ask)
                self._models = [ModelsView(server, self._choice, ask)]
            with tabs.add_tab("Nodes", viser.Icon.HEARTBEAT):
                self.nodes = NodesView(server)
            self._make_left(ask, folder)

    def _make_left(self, ask: Ask, folder: Path | None) -> None:
        server = self.server
        panel = server.gui.add_panel()
        if folder is not None:
            with panel.add_tab("Demonstration", viser.Icon.PLAYER_PLAY) as tab:
                self.doing = DoingView(server, folder, tab)
        with panel.add_tab("Objects", viser.Icon.EYE):
            self.camera = CameraView(server)
            self._recognizer = Choice(server, "recognizer")
            self.teaching = TeachingView(server, self._recognizer, ask, self.thumbnails)
            self._models.append(ModelsView(server, self._recognizer, ask))
        with panel.add_tab("Detector", viser.Icon.SQUARE):
            self._detector = Choice(server, "detector")
            self.detection = DetectionView(server, self._detector, ask)
            self._models.append(ModelsView(server, self._detector, ask, pools=False))
        panel.dock_left()
        panel.set_width(LEFT)

    def update(self, state: State) -> None:
        """Show a state; to be called some ten times a second, whether a browser is connected or not."""
        with self.server.atomic():
            self._choice.offer([name for name, one in state.learners.items() if one.alive])
            learner = state.learners.get(self._choice.name)
            # Also without a browser: one that comes later shows how errors fell, and what was seen.
            if self.errors is not None:
                self._safely(self.errors.update, state, learner)
            self._safely(self.thumbnails.update, state)
            if not self.server.get_clients():
                return
            show(learner is None or not self._predicted, self.waiting)
            self._safely(self.robot.update, state, learner)
            self._safely(self.curves.update, learner)
            if not self._live:
                return
            self._safely(self.weights.update, learner)
            self._recognizer.offer(sorted(state.recognizers))
            self._detector.offer(sorted(state.detectors))
            self._safely(self.body.update, learner)
            self._safely(self.camera.update, state, self._recognizer.name, self._detector.name)
            for part in (self.nodes, self.teaching, self.detection):
                self._safely(part.update, state)
            for models in self._models:
                models.update()
            if self.doing is not None:
                self._safely(self.doing.update, state.doing)

    def _safely(self, update: Callable[..., None], *given: Any) -> None:
        """Update a part; an exception in it is shown once, and the other parts go on."""
        try:
            update(*given)
        except Exception as error:
            text = f"{type(update.__self__).__name__}: {type(error).__name__}: {error}"  # type: ignore[attr-defined]
            if text not in self.said:
                traceback.print_exc()
                self._say(text)

    def close(self) -> None:
        self.server.stop()

    def _say(self, text: str) -> None:
        self.said = [*self.said, text][-MOST_LINES:]
        self._note.content = "".join(style.note(one, style.DARK_RED) for one in self.said)
        self._note.visible = True


def start(host: str, port: int, token: str, thumbnails: Thumbnails) -> viser.ViserServer:
    """Start the server, which also serves `thumbnails`. Raises IcubLearningError if the port is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:  # viser would silently take the next port
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            text = f"the page cannot be served at {host}, port {port}: {error.strerror}"
            text += ". --port takes another one, 0 any"
            raise IcubLearningError(text, name="--port", value=port, bound="a free port") from error
    # Viser prints an address without the token.
    with contextlib.redirect_stdout(io.StringIO()), guarding(Guard(host, token), thumbnails.picture):
        server = viser.ViserServer(host=host, port=port, verbose=False)
    # A page may ask viser for a tunnel to a server elsewhere, through which anybody could open the page.
    for message in (viser._messages.ShareUrlRequest, viser._messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    return server
