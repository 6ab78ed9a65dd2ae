"""Reports are one file: everything is in it, text from outside stays text, and pictures become smaller."""

import base64
import io
import re

import numpy as np
from PIL import Image

from icub_learning.reporting import page


def test_a_page_asks_no_host_and_shows_text_as_text(tmp_path):
    rng = np.random.default_rng(0)
    smooth = np.cumsum(rng.normal(size=(200, 300, 3)), axis=1)
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
