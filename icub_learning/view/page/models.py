"""Saving, loading and pooling what nodes have learned."""

import viser

from icub_learning.view.page.actions import Action
from icub_learning.view.page.choice import Choice, show
from icub_learning.view.shown.answers import Answer, Ask


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
