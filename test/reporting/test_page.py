"""Reports are one file: everything is in it, text from outside stays text, and pictures become smaller."""

import base64
import io
import platform
import re

import numpy as np
from PIL import Image

from icub_learning.reporting import page
from icub_learning.reporting.plots import log_scale, new_figure


def test_a_page_asks_no_host_and_shows_text_as_text_whose_long_sentences_are_wrapped(tmp_path):
    smooth = np.cumsum(np.random.default_rng(0).normal(size=(200, 300, 3)), axis=1)
    pixels = np.uint8(255 * (smooth - smooth.min()) / np.ptp(smooth))
    Image.fromarray(pixels).save(tmp_path / "a.png")
    parts = [
        page.section("<script>"), page.paragraph("a & b", "note"),
        page.table(["<i>", "x"], [["1", "2"], ["3", "4"]], [False, True]), page.preformatted("x < y"),
        page.picture(tmp_path / "a.png"),
    ]  # fmt: skip
    text = page.page("T <1>", parts)
    assert not re.search(r"https?://|src=\"(?!data:)|<link|<script|@import|url\(", text)
    assert all(shown in text for shown in ("&lt;script&gt;", "a &amp; b", "&lt;i&gt;", "x &lt; y", "T &lt;1&gt;"))
    assert text.count('class="worse"') == 1
    found = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", text)[1])
    assert len(found) < (tmp_path / "a.png").stat().st_size
    with Image.open(io.BytesIO(found)) as image:
        shown = np.asarray(image.convert("RGB"), dtype=float)
    assert np.sqrt(np.mean((shown - pixels) ** 2)) < 12.0  # root mean square, of 255
    page.write_page(tmp_path / "folder" / "r.html", text)
    assert (tmp_path / "folder" / "r.html").read_text(encoding="utf-8") == text
    wrapped = "\n".join(" ".join(["word"] * n) for n in (26, 26, 8))  # 130 characters in a line at most
    assert page.section("a") + page.section("a", "b") == '<h2 id="a">a</h2><h2 id="b">a</h2>'
    assert page.paragraph("a") + page.paragraph("a", "note") == '<p>a</p><p class="note">a</p>'
    full = f"{'c' * 64} {'d' * 65}"
    assert page.preformatted(f"\na  b\n{full}\n" + "word " * 60) == f"<pre>a  b\n{full}\n{wrapped}</pre>"
    axes = new_figure(4.0, 3.0).add_subplot()
    for most, ticks in ((30.0, {1, 2, 5, 10, 20}), (1e4, {1, 10, 100, 1000, 10000})):
        axes.plot([1.0, most])
        log_scale(axes)
        assert {tick for tick in axes.get_yticks() if 1 <= tick <= most} == ticks
    assert page.folded("a", "b") == "<details><summary>a</summary><pre>b</pre></details>"
    assert page.table(["a"], [["1"]] * 3, [True]).count('class="worse"') == 1
    assert "<td>b 0.123, c 1, x</td>" in page.machine_table({"a": {"b": 0.12345, "c": [1, "x"]}})


def test_the_processor_is_named_as_well_as_the_system_knows_it(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "Path", lambda _: tmp_path / "cpuinfo")
    for said, expected in (("", platform.machine()), ("x86", "x86")):
        monkeypatch.setattr(platform, "processor", lambda said=said: said)
        assert page.describe_machine()["processor"] == expected
    (tmp_path / "cpuinfo").write_text("cores: 2\nmodel name\t: Fast: 3\nmodel name\t: b")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert [page.describe_machine()[name] for name in ("processor", "cores")] == ["Fast: 3", "3"]
