"""Numbers and arrays: NaN, infinity, arrays that do not fit the names, nothing to learn from."""

from dataclasses import replace

import numpy as np

from icub_learning.evaluation.robot_check.observation import RIGHT, WRONG, Finding, Observation

FIELDS = ("position", "velocity", "effort", "wrench")


def check_numbers(seen: Observation) -> list[Finding]:
    """Look for numbers that are none, and for arrays of another length than the names."""
    recording, found = seen.recording, []
    bad = {
        name: ~np.isfinite(values).all(axis=1) for name in FIELDS if (values := getattr(recording, name)) is not None
    }
    for name, rows in bad.items():
        if rows.any():
            text = f"{name} holds NaN or infinity in {rows.sum()} of {len(rows)} messages"
            found.append(Finding("not_finite", WRONG, text, "correct the driver; the node refuses such messages"))
    sizes = sum(
        any(len(values) not in (0, len(event.names)) for values in (event.position, event.velocity, event.effort))
        for event in recording.irregular
    )
    if sizes:
        text = f"in {sizes} joint states an array is longer or shorter than the list of names"
        found.append(Finding("array_size", WRONG, text, "correct the driver; the node refuses such messages"))
    if not found:
        return [Finding("numbers", RIGHT, "all numbers are finite, and all arrays fit the names")]
    corrected = recording
    if "velocity" in bad and bad["velocity"].mean() > 0.5:
        corrected = replace(corrected, velocity=None)  # a driver's way to say that there are none
        bad.pop("velocity")
    joint = ~np.any([rows for name, rows in bad.items() if name != "wrench"], axis=0)
    fields = {
        name: values[joint]
        for name in ("joint_stamps", "joint_arrivals", "position", "velocity", "effort", "acceleration")
        if (values := getattr(corrected, name)) is not None
    }
    if "wrench" in bad:
        kept = ~bad["wrench"]
        fields |= {name: getattr(corrected, name)[kept] for name in ("wrench", "wrench_stamps", "wrench_arrivals")}
    found[0] = replace(found[0], corrected=replace(corrected, **fields))
    return found


def check_outputs(seen: Observation) -> list[Finding]:
    """Look for what can be learned: wrenches, or efforts."""
    effort = seen.recording.effort
    if seen.has_wrench:
        text = f"wrenches come beside the joint states, of the sensor {seen.sensor or 'without a name'}"
        return [Finding("outputs", RIGHT, text, settings={"output": "wrench"})]
    if effort is None or not len(effort):
        text = "neither wrenches nor efforts come: there is nothing to learn"
        remedy = "name the topic of the wrenches (--wrench), or let the driver fill JointState.effort"
        return [Finding("outputs", WRONG, text, remedy)]
    settings: dict[str, object] = {"output": "joint_torque"}
    return [Finding("outputs", RIGHT, "joint states carry efforts", settings=settings)]
