"""Documents and settings name files and tools that exist."""

import re

import yaml


def test_links_between_documents_and_places_that_contributing_names_exist(checkout):
    for document in [*checkout.glob("*.md"), *checkout.glob("docs/**/*.md"), *checkout.glob("examples/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text()):
            assert "://" in target or (document.parent / target).exists(), f"{document.name}: {target}"
    text = (checkout / "CONTRIBUTING.md").read_text()
    names = set(re.findall(r"`([\w./-]+/[\w./-]*\w)/?`", text)) - {"shared/data"}  # beside the checkout
    names |= set(re.findall(r"`(\w+\.(?:py|md|xml))`", text))
    assert len(names) >= 20
    assert not [one for one in names if not any((at / one).exists() for at in (checkout, checkout / "icub_learning"))]


def test_hooks_of_pre_commit_use_the_tools_of_the_lock(checkout):
    config = yaml.safe_load((checkout / ".pre-commit-config.yaml").read_text())
    locked = (checkout / "requirements-dev.lock").read_text()
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    for hook in config["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        tool = re.fullmatch(r"\.venv/bin/python -m (\w+).*", hook["entry"]).group(1)
        assert f"\n{tool}==" in locked
