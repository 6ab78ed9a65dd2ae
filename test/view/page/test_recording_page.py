"""A recording on the page in a real browser, by keyboard alone: it is stopped, and shown at the time of the slider."""

import sys

import pytest
from helpers.browser import browsing, chromium
from helpers.recordings import rigid_recording

from icub_learning.recording import write

pytestmark = [pytest.mark.xdist_group("alone"), pytest.mark.long]
N = 4000  # samples, 8 ms apart


def test_the_slider_leads_through_the_recording_by_keyboard(start_process, checkout, tmp_path):
    chromium()  # skips before anything is started
    write(rigid_recording(N), path := tmp_path / "motion.npz")
    line = ("view", str(path), "--urdf", "ur10", "--port", "0")
    address = start_process(sys.executable, "-m", "icub_learning.cli", *line).wait_for(r"page: (http://\S+)")[1]
    with browsing(1000, 700) as browser:
        page = browser.page
        page.goto(address)
        slider = page.get_by_role("slider").first
        moving = slider.element_handle()

        def shown() -> float:
            return float(slider.get_attribute("aria-valuenow"))

        def newest() -> float:
            return max((rows[0][-1] for rows in browser.series().values()), default=0.0)

        browser.until(lambda: shown() > 0.5, "a recording that plays")
        browser.until(lambda: newest() > 0.5, "its curves")
        page.get_by_label("play").focus()
        page.keyboard.press("Space")
        moving.wait_for_element_state("hidden")  # another takes its place
        slider.wait_for()
        slider.focus()
        page.keyboard.press("End")
        last = (N - 1) * 0.008
        browser.until(lambda: abs(shown() - last) < 0.06 and abs(newest() - shown()) < 0.06, "the end and its curves")
        page.keyboard.press("Home")
        browser.until(lambda: shown() < 0.001 and newest() < 0.06, "its beginning")
        for place in (0.05, 0.1, 0.15):
            page.keyboard.press("ArrowRight")
            browser.until(lambda place=place: abs(shown() - place) < 0.001, "a step from the beginning, where it stood")
        page.screenshot(path=str(checkout / "out" / "view" / "recording.png"))
        assert not browser.errors
