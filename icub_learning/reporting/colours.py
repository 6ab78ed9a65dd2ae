"""The colours that pictures and pages share: distinct in grey and for the colour-blind."""

RED, GREEN, BLUE, YELLOW, INK, GREY = "#d1495b", "#2a9d5c", "#3d7ea6", "#e3a13b", "#22262b", "#8a9099"
PALE = "#b8bec6"
COLOURS = {"P": RED, "NP": BLUE, "SP": GREEN, "measured": INK}
LABELS = {"P": "P: rigid bodies", "NP": "NP: random features", "SP": "SP: both"}
