"""The page in a real browser, on running nodes: curves move, a click teaches, a refusal is shown, no host is asked."""

import re
import sys
from functools import partial
from urllib.parse import urlsplit

import pytest
from helpers.browser import COARSE, Browser, browsing, chromium
from helpers.own_package import write_own_package

pytestmark = pytest.mark.xdist_group("alone")

LABEL, FRAMES = "yellow <b>duck</b>", 3  # words from people are shown as they are, not taken for HTML
ARM = {
    "joints": ["r_shoulder_pitch", "r_shoulder_roll", "r_shoulder_yaw", "r_elbow"], "output": "wrench",
    "n_random_features": 100, "use_sim_time": True, "tolerance": 0.01, "report_period": 0.5,
}  # fmt: skip


@pytest.fixture
def address(start_node, start_process, checkout, tmp_path, monkeypatch):
    """Address of the page of a simulated iCub that learns its arm and, with colours as features, objects."""
    chromium()  # skips before anything is started
    # 50 Hz, as the processor of the test machine also has to draw the page.
    start_node("icub_simulation", rate=50.0, object="duck", image_rate=5.0)
    start_node("object_recognition", reject_known=0.0)
    write_own_package(checkout, tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)  # a node imports it from the working folder
    start_node("cnn_features", features="my_package.features.ColourGrid")
    view = start_process(sys.executable, "-m", "icub_learning.cli", "view", "--port", "0")
    return view.wait_for(r"page: (http://\S+)")[1]


def newest(browser: Browser) -> list[float]:
    """Return the time of the newest point of each plot [s]; 1 s for plots that show nothing yet."""
    return [rows[0][-1] for rows in browser.series().values()]


def all_beyond(browser: Browser, seconds: float) -> bool:
    """Return whether two plots of errors and three of a wrench's part have all passed this time [s]."""
    return len(times := newest(browser)) == 5 and min(times) > seconds


def have_fallen(browser: Browser) -> bool:
    """Return whether the errors of each part are small: before anything is learned they are about 10 N and 1 N m."""
    errors = [rows[1:] for rows in browser.series().values() if len(rows) == 3]
    last = sorted(max(row[-1] for row in rows) for rows in errors)  # newest errors of torque and of force
    return len(last) == 2 and last[0] < 0.5 and last[1] < 3.0


def teach(browser: Browser, name: str) -> None:
    """Fill in the form, and press its button with the mouse."""
    form = browser.page.locator("form", has_text="Teach what is in front of the camera")
    for place, value in enumerate((name, FRAMES)):
        field = form.locator("input").nth(place)
        if field.input_value() != str(value):
            browser.told(value, partial(field.fill, str(value)))
    form.get_by_role("button", name="Teach", exact=True).click()


def test_a_newcomer_sees_the_robot_learn_and_teaches_it_by_mouse(address, start_node, checkout):
    pictures = checkout / "out" / "view"
    pictures.mkdir(parents=True, exist_ok=True)
    with browsing(1200, 760) as browser:
        page = browser.page
        page.goto(address + COARSE)
        page.get_by_text("No learner of inverse dynamics is running").wait_for()
        start_node("inverse_dynamics", **ARM)
        browser.until(lambda: all_beyond(browser, 3.0), "curves")
        reached = max(newest(browser))
        browser.until(lambda: all_beyond(browser, reached + 2.0), "curves that move")
        # The learner started from nothing: the errors of the parametric and the semiparametric model fall.
        browser.until(lambda: have_fallen(browser), "errors that fall")
        teach(browser, "")
        refusal = page.get_by_role("status").filter(has_text="✗")
        refusal.first.wait_for()
        assert re.search("label|name", refusal.first.inner_text())
        teach(browser, LABEL)
        page.get_by_role("status").filter(has_text=f"learned {FRAMES} frames").first.wait_for()
        label = page.locator("[data-label]")
        label.filter(has_text=LABEL).wait_for()
        assert label.locator("b").count() == 0
        page.screenshot(path=str(pictures / "page.png"))

        page.get_by_role("tab", name="Body").click()
        page.get_by_text("nominal").first.wait_for()  # the table of masses, learned beside nominal
        page.get_by_role("button", name="Identify load").click()
        page.get_by_role("status").filter(has_text=re.compile("nothing is carried|not known|kg")).first.wait_for()
        page.screenshot(path=str(pictures / "body.png"))
        page.get_by_role("tab", name="Nodes").click()
        page.get_by_text("latency, arrival to publication").first.wait_for()
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth")
        page.get_by_text("latency, arrival to publication").first.wait_for(state="attached")
        page.screenshot(path=str(pictures / "narrow.png"))
        assert browser.hosts() == {urlsplit(address).netloc} and not browser.errors


def tab_to(browser, wanted):
    """Press Tab until an element has the focus; the test fails if Tab does not lead there from the page's beginning."""
    for _ in range(80):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        browser.page.keyboard.press("Tab")
    pytest.fail("80 presses of Tab do not lead there")


def test_an_object_is_taught_by_keyboard_alone(address: str) -> None:
    with browsing(1000, 700) as browser:
        page = browser.page
        page.goto(address + COARSE)
        form = page.locator("form", has_text="Teach what is in front of the camera")
        form.wait_for()
        tab_to(browser, form.locator("input").nth(0))
        browser.told("mug", lambda: page.keyboard.type("mug"))
        tab_to(browser, form.locator("input").nth(1))
        page.keyboard.press("ControlOrMeta+a")
        browser.told(FRAMES, lambda: page.keyboard.type(str(FRAMES)))
        page.keyboard.press("Enter")
        page.get_by_role("status").filter(has_text=f"learned {FRAMES} frames").first.wait_for()
        page.locator("[data-label]").filter(has_text="mug").wait_for()
        assert not browser.errors
