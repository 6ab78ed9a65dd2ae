"""Errors of predicted wrenches by force and torque, and the published ones of thesis 8.4.3."""

GROUPS = {"force": slice(0, 3), "torque": slice(3, 6)}  # axes of a wrench
UNITS = {"force": "N", "torque": "N m"}
WINDOW = 30  # samples in each mean of squared errors, as in fig. 8.4
# Errors in force [N] and torque [N m], steady state after the change of plane, read off 8.4.3 and fig. 8.4.
PUBLISHED = {"P": ("2-3", "0.5-0.7"), "NP": ("1", "0.1"), "SP": ("1", "0.1")}
# Ratios of errors: our bounds for what the text of 8.4.3 says in words. P: "2 to 3 times larger"; SP "matches" NP, and
# is "considerably lower" in the initial transient.
EXPECTED = {"SP/P, steady": 0.5, "SP/NP, steady": 1.05, "SP/NP, first 30": 0.6}
