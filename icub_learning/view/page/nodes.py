"""How the nodes are, and what they have learned as files."""

import time

import viser

from icub_learning.view.page import style
from icub_learning.view.page.controls import Action, Choice, show
from icub_learning.view.shown.state import Answer, Ask, Health, State

STALE_AFTER = 5.0  # [s] without a report
SHOWN = ("prediction rate [Hz]", "latency, arrival to publication", "latency, stamp to publication", "learning",
         "recognition", "detection", "samples learned", "samples skipped, more than can be learned", "samples waiting",
         "joint states without measurement", "refused", "last refusal", "seen", "load")  # fmt: skip


class NodesView:
    """One block for each status of /diagnostics, and the messages that are missing in the streams."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.content = server.gui.add_html(style.note("no node has reported yet"))

    def update(self, state: State) -> None:
        """Show the newest reports."""
        content = "".join(block(name, health, time.monotonic()) for name, health in sorted(state.health.items()))
        if state.lost:
            rows = [[topic, str(count)] for topic, count in sorted(state.lost.items())]
            content += style.table(["messages lost on the way here", ""], rows)
        if content and content != self.content.content:
            self.content.content = content


def block(name: str, health: Health, now: float) -> str:
    """Return one status: name, level and summary, and the values that matter most."""
    silent = now - health.arrival > STALE_AFTER
    colour, level = style.LEVELS[3 if silent else health.level]
    message = "has stopped reporting" if silent else health.message
    rows = [[key, value] for key in SHOWN if (value := health.values.get(key, "")) not in ("", "0")]
    return (
        f'<div style="border-left:4px solid {colour};margin:.4rem .5rem;padding:.1rem 0">'
        f"{style.note(f'{name}: {level}', colour, True)}{style.note(message)}{style.table((), rows)}</div>"
    )


class ModelsView:
    """A file name, and what to do with it; names are inside the node's models_folder."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask) -> None:
        gui = server.gui
        with gui.add_folder("Model as a file", expand_by_default=False, visible=False) as self._folder:
            name = gui.add_text("file", "", hint="name in the folder models_folder of the node")

            def call(service: str) -> Answer:
                return ask(choice.name, service, takes=10.0, path=name.value.strip())

            Action(server, "Save", lambda: call("save_model"), "writes what the node has learned")
            Action(server, "Load", lambda: call("load_model"), "replaces what the node has learned by the file")
            Action(server, "Merge", lambda: call("merge_model"), "pools the file with what the node has learned")
            Action(server, "Forget all", lambda: ask(choice.name, "reset"), "forgets all that the node has learned")
        self._choice = choice

    def update(self) -> None:
        """Show it as long as there is a node."""
        show(bool(self._choice.name), self._folder)
