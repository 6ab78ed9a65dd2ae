"""The documentation site: built without a warning, complete, and readable without a network."""

import functools
import http.server
import importlib
import re
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from helpers.browser import browsing, chromium
from helpers.loading import module_at

from icub_learning.cli.main import COMMANDS

pytest.importorskip("mkdocs", reason="not installed: tools/setup docs")
SITE = Path(__file__).resolve().parents[2] / "tools" / "site"


def test_links_lead_to_the_pages_of_the_site() -> None:
    outside = module_at(SITE / "outside.py")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="how_to/my_data.md"))  # as MkDocs has it
    text = (
        "[a](../evaluate.md#one) [b](../../examples/README.md) [c](../decisions) [d](https://x.org/y.md)\n"
        "[e](../../Makefile) [i](../../icub_learning/recursive)"
        " [f](../../examples/merge_two_robots.py) ![g](../view.png)\n"
        "```sh\n[h](../../Makefile)\n```\n"
    )
    assert outside.on_page_markdown(text, page) == (
        "[a](../evaluate.md#one) [b](../examples/README.md) [c](../decisions/index.md) [d](https://x.org/y.md)\n"
        "e [i](../reference/python/recursive.md) [f](../examples/merge_two_robots.md) ![g](../view.png)\n"
        "```sh\n[h](../../Makefile)\n```\n"
    )


def test_formulas_become_mathml() -> None:
    pytest.importorskip("latex2mathml")
    content = module_at(SITE / "formulas.py").on_page_content(r'<span class="arithmatex">\(a &lt; b^2\)</span>')
    assert content.startswith("<math") and "<msup>" in content and "<mi>b</mi>" in content
    assert "arithmatex" not in content


def test_errors_without_more_are_read_by_griffe() -> None:
    pytest.importorskip("griffe")
    with_colons = module_at(SITE / "raises.py").with_colons
    line = "    ShapeError, NotFiniteError: nothing changes then.\n"
    assert with_colons(line.replace(":", ";")) == line
    assert with_colons("    ParameterError: n is 0.\n") == "    ParameterError: n is 0.\n"
    assert with_colons("    A, B (so large).\n") == "    A, B: so large\n"
    assert with_colons("    A.\n").startswith("    A: an argument")


def test_every_package_of_the_reference_names_what_it_has() -> None:
    reference = module_at(SITE / "reference.py")
    for name in reference.PACKAGES:
        names = re.findall(rf"^::: icub_learning\.{name}\.(\w+)$", reference.python_page(name), re.M)
        module = importlib.import_module(f"icub_learning.{name}")
        assert names and all(hasattr(module, one) for one in names)
        assert set(names) >= set(getattr(module, "__all__", []))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_it_is_built_without_a_warning_and_every_link_leads_somewhere(checkout: Path, tmp_path: Path) -> None:
    for package in ("material", "mkdocstrings", "latex2mathml"):
        pytest.importorskip(package, reason="not installed: tools/setup docs")
    site = tmp_path / "site"
    line = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    built = subprocess.run(line, cwd=checkout, capture_output=True, text=True, timeout=500)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = {page: page.read_text() for page in site.rglob("*.html") if page.name != "404.html"}
    for page, text in pages.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            parts = urlsplit(unescape(target))
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("https", "http", "mailto", "data"), target
                assert not re.search(rf'(?:<script[^>]+src|<link[^>]+href)="{re.escape(target)}"', text), target
                continue
            other = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            other = other / "index.html" if other.is_dir() else other
            assert other.is_file(), f"{page.relative_to(site)}: {target}"
            if parts.fragment and other in pages:
                assert f'id="{unquote(parts.fragment)}"' in pages[other], f"{page.relative_to(site)}: {target}"
    assert pages[site / "theory" / "recursive_least_squares.html"].count("<math") > 15
    assert not [page for page, text in pages.items() if 'class="arithmatex"' in text]
    assert all(f"icub-learning {name}" in pages[site / "reference" / "commands.html"] for name in COMMANDS)
    assert "TeachObject" in pages[site / "reference" / "messages.html"]
    recursive = pages[site / "reference" / "python" / "recursive.html"]
    assert 'id="icub_learning.recursive.RecursiveLeastSquares.update"' in recursive
    chromium()  # skips the rest where there is none
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with browsing() as browser:
                address = f"127.0.0.1:{server.server_port}"
                for name in ("index.html", "theory/inverse_dynamics.html", "performance.html"):
                    browser.page.goto(f"http://{address}/{name}")
                assert browser.hosts() == {address} and not browser.errors
        finally:
            server.shutdown()
