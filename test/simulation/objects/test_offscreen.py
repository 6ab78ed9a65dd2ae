"""Which back-end renders, and the error where none does: missing libraries, or a busy machine."""

import runpy
from collections.abc import Iterator

import pytest

from icub_learning.errors import RenderingError
from icub_learning.simulation.objects import offscreen
from icub_learning.simulation.objects.offscreen import BACKENDS, LATE, PACKAGES, find_backend

MISSING = "ImportError: no library"


@pytest.fixture(autouse=True)
def nothing_found(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    find_backend.cache_clear()
    yield
    find_backend.cache_clear()


@pytest.fixture
def reasons(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return why each back-end fails, "" for one that works; a test may change it."""
    found = dict.fromkeys(BACKENDS, MISSING)
    monkeypatch.setattr(offscreen, "_probe", lambda backend: found[backend])
    return found


@pytest.mark.parametrize("late", [("egl",), ("osmesa",), BACKENDS])
def test_one_that_is_late_is_to_be_tried_again(reasons: dict[str, str], late: tuple[str, ...]) -> None:
    reasons |= dict.fromkeys(late, LATE)
    with pytest.raises(RenderingError) as refused:
        find_backend()
    text = str(refused.value)
    assert text.startswith("off-screen OpenGL did not answer in time, though it may be installed: try again")
    assert f"apt-get install {PACKAGES}" in text  # in case trying again does not help
    assert all(f"{backend}: {reason}" in text for backend, reason in reasons.items())
    assert "no off-screen OpenGL" not in text
    reasons["osmesa"] = ""
    assert find_backend() == "osmesa"  # failures are not cached


def test_the_reason_is_the_time_the_last_line_of_the_child_process_or_its_exit_code(monkeypatch, tmp_path):
    with monkeypatch.context() as hasty:
        hasty.setattr(offscreen, "PROBE_TIMEOUT", 0.001)  # [s] too short for an interpreter to start
        with pytest.raises(RenderingError, match=r"did not answer in time.*egl: no image within .*osmesa: no image"):
            find_backend()
    (tmp_path / "broken.py").write_text("raise ValueError(300 * 'x')")
    monkeypatch.setattr(offscreen, "MODULE", "broken")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RenderingError, match=r"\(egl: (ValueError: x{188}); osmesa: \1\)$"):  # 200 characters at most
        find_backend()
    (tmp_path / "broken.py").write_text("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(RenderingError, match="egl: ended with -9; osmesa: ended with -9"):
        find_backend()
    monkeypatch.setattr(offscreen.sys, "executable", "/bin/false")
    with pytest.raises(RenderingError, match="osmesa: ended with 1"):
        find_backend()


def test_the_program_says_which_back_end_works_or_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(offscreen.sys, "argv", ["offscreen"])
    for program, code, text in (("/bin/true", 0, "off-screen rendering works (egl)"), ("/bin/false", 1, "no")):
        monkeypatch.setattr(offscreen.sys, "executable", program)
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(offscreen.__file__, run_name="__main__")
        assert ended.value.code == code
        assert capsys.readouterr()[code].startswith(f"icub_learning: {text}")  # success on stdout, failure on stderr


def test_the_back_end_that_is_asked_for_is_the_only_one_tried(reasons, monkeypatch):
    reasons["egl"] = ""
    monkeypatch.setenv("MUJOCO_GL", "OSMesa")
    install = rf"^no off-screen OpenGL here; install it with: (sudo )?apt-get install {PACKAGES} \(osmesa: {MISSING}\)"
    with pytest.raises(RenderingError, match=install) as refused:
        find_backend()
    assert refused.value.value == "osmesa"
    monkeypatch.setenv("MUJOCO_GL", "glfw")  # needs a window, and so is ignored
    assert find_backend() == "egl"
