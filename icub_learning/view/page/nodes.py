"""What nodes have learned of the body, their diagnostics, and their models as files."""

import time

import viser

from icub_learning.reporting.tables import number
from icub_learning.view.page import style
from icub_learning.view.page.controls import Action, Choice, show
from icub_learning.view.shown.state import Answer, Ask, Health, Learner, Load, Masses, State

OBSERVED = 5.0  # [s] time for which a load is observed, by default
STALE_AFTER = 5.0  # [s] time without a report after which a status counts as stale
SHOWN = ("prediction rate [Hz]", "latency, arrival to publication", "latency, stamp to publication", "learning",
         "recognition", "detection", "samples learned", "samples left out, more than learning_share allows",
         "samples waiting", "joint states without measurement", "refused", "last refusal", "seen", "load")  # fmt: skip


class BodyView:
    """Masses, load and contact of the chosen learner, with the services that change or identify them."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask) -> None:
        gui = server.gui
        self.seen = gui.add_html(style.note("nothing is known yet"))
        with gui.add_folder("Load and sensor"):
            seconds = gui.add_number("observe [s]", OBSERVED, min=0.1, max=600.0, step=0.5)
            Action(
                server, "Identify load",
                lambda: ask(choice.name, "identify_payload", seconds.value, timeout=float(seconds.value)),
                "observes what is carried while the arm moves", lambda: f"observing for {seconds.value:g} s"
            )  # fmt: skip
            hint = "moves the offsets of the force/torque sensor: with nothing in the hand"
            Action(server, "Tare", lambda: ask(choice.name, "tare"), hint)
        with gui.add_folder("Learning"):
            Action(server, "Learn", lambda: ask(choice.name, "set_learning", data=True), "learn from now on")
            Action(server, "Predict only", lambda: ask(choice.name, "set_learning", data=False), "stop learning")
        self.masses = gui.add_html("")

    def update(self, learner: Learner | None) -> None:
        if learner is None:
            return
        contact = style.badge("contact", True) if learner.contact else style.badge("no contact", False)
        self.seen.content = f'<div class="il-row">{load_badge(learner.load)}{contact}</div>'
        self.masses.content = masses_text(learner.masses)


def load_badge(load: Load | None) -> str:
    if load is None or load.mass <= 0:
        return style.badge("no load", False)
    centre = ", ".join(f"{1e3 * value:.0f}" for value in load.centre)
    return style.badge(f"load {load.mass:.3f} kg at ({centre}) mm of {load.link}", True)


def masses_text(masses: Masses | None) -> str:
    if masses is None:
        return style.note("this learner has published no rigid-body parameters")
    columns = (masses.learned, masses.possible, masses.nominal)
    rows = [[link, *(number(float(one[place]), 3) for one in columns)] for place, link in enumerate(masses.links)]
    rows.append(["sum", *(number(float(one.sum()), 3) for one in columns)])
    text = f"{masses.n_samples} samples learned. A single mass need not be what motion shows: only combinations of "
    text += "parameters are determined by data, and a possible body is the nearest to nominal."
    return style.table(["mass [kg]", "learned", "possible", "nominal"], rows) + style.note(text)


class NodesView:
    """One block for each status of /diagnostics, and how many messages were lost in each stream."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.content = server.gui.add_html(style.note("no node has reported yet"))

    def update(self, state: State) -> None:
        content = "".join(block(name, health, time.monotonic()) for name, health in sorted(state.health.items()))
        if state.lost:
            rows = [[topic, str(count)] for topic, count in sorted(state.lost.items())]
            content += style.table(["messages lost on the way here", ""], rows)
        if content:
            self.content.content = content


def block(name: str, health: Health, now: float) -> str:
    silent = now - health.arrival > STALE_AFTER
    colour, level = style.LEVELS[3 if silent else health.level]
    message = "has stopped reporting" if silent else health.message
    rows = [[key, value] for key in SHOWN if (value := health.values.get(key, "")) not in ("", "0")]
    said = style.note(f"{name}: {level}", colour, True) + style.note(message) + style.table((), rows)
    return f'<div style="border-left:4px solid {colour};margin:.4rem .5rem;padding:.1rem 0">{said}</div>'


class ModelsView:
    """A file name in the node's models_folder, and buttons to save and load it and, if it `pools`, merge or forget."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask, *, pools: bool = True) -> None:
        gui = server.gui
        with gui.add_folder("Model as a file", expand_by_default=False, visible=False) as self._folder:
            name = gui.add_text("file", "", hint="name in the folder models_folder of the node")

            def call(service: str) -> Answer:
                return ask(choice.name, service, takes=10.0, path=name.value.strip())

            Action(server, "Save", lambda: call("save_model"), "writes what the node has learned")
            Action(server, "Load", lambda: call("load_model"), "replaces what the node has learned by the file")
            if pools:  # detectors have neither service
                Action(server, "Merge", lambda: call("merge_model"), "pools the file with what the node has learned")
                Action(server, "Forget all", lambda: ask(choice.name, "reset"), "forgets all that the node has learned")
        self._choice = choice

    def update(self) -> None:
        show(bool(self._choice.name), self._folder)
