"""What is known of the body: masses learned against nominal ones, the load that is carried, and contacts."""

import viser

from icub_learning.reporting.tables import number
from icub_learning.view.page import style
from icub_learning.view.page.controls import Action, Choice
from icub_learning.view.shown.state import Answer, Ask, Learner, Load, Masses

OBSERVED = 5.0  # [s] that a load is observed for, by default


class BodyView:
    """Masses, load and contact of the chosen learner, with the services that change or identify them."""

    def __init__(self, server: viser.ViserServer, choice: Choice, ask: Ask) -> None:
        gui = server.gui
        self.seen = gui.add_html(style.note("nothing is known yet"))
        with gui.add_folder("Load and sensor"):
            seconds = gui.add_number("observe [s]", OBSERVED, min=0.1, max=600.0, step=0.5)

            def identify() -> Answer:
                return ask(choice.name, "identify_payload", takes=seconds.value, timeout=float(seconds.value))

            hint = "observes what is carried while the arm moves"
            Action(server, "Identify load", identify, hint, lambda: f"observing for {seconds.value:g} s")
            hint = "moves the offsets of the force/torque sensor: with nothing in the hand"
            Action(server, "Tare", lambda: ask(choice.name, "tare"), hint)
        with gui.add_folder("Learning"):
            Action(server, "Learn", lambda: ask(choice.name, "set_learning", data=True), "learn from now on")
            Action(server, "Predict only", lambda: ask(choice.name, "set_learning", data=False), "stop learning")
        self.masses = gui.add_html("")
        self._shown: object = None

    def update(self, learner: Learner | None) -> None:
        """Show what the learner has published."""
        if learner is None or (learner.name, learner.masses, learner.load, learner.contact) == self._shown:
            return
        self._shown = learner.name, learner.masses, learner.load, learner.contact
        contact = style.badge("contact", True) if learner.contact else style.badge("no contact", False)
        self.seen.content = f'<div class="il-row">{load_badge(learner.load)}{contact}</div>'
        self.masses.content = masses_text(learner.masses)


def load_badge(load: Load | None) -> str:
    """Return a load in words, in a frame."""
    if load is None or load.mass <= 0:
        return style.badge("no load", False)
    centre = ", ".join(f"{1e3 * value:.0f}" for value in load.centre)
    return style.badge(f"load {load.mass:.3f} kg at ({centre}) mm of {load.link}", True)


def masses_text(masses: Masses | None) -> str:
    """Return a table of masses, with their sums."""
    if masses is None:
        return style.note("this learner has published no rigid-body parameters")
    columns = (masses.learned, masses.possible, masses.nominal)
    rows = [[link, *(number(float(one[place]), 3) for one in columns)] for place, link in enumerate(masses.links)]
    rows.append(["sum", *(number(float(one.sum()), 3) for one in columns)])
    text = (
        f"{masses.n_samples} samples learned. A single mass need not be what motion shows: "
        "only combinations of parameters are determined by data, and a possible body is the nearest to nominal."
    )
    return style.table(["mass [kg]", "learned", "possible", "nominal"], rows) + style.note(text)
