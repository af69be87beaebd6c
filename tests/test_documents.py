"""What the documents promise: links lead somewhere, and what they type exists."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import click
import pytest

import smtc_lab
from smtc_lab.cli import cli

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    path.relative_to(ROOT).as_posix()
    for path in (
        *sorted(ROOT.glob("*.md")),
        *sorted(ROOT.glob("notebooks/guide/*.md")),
        ROOT / "notebooks" / "results" / "README.md",
    )
]

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")

in_every_document = pytest.mark.parametrize("name", DOCUMENTS)


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def blocks_of(name: str, *, language: str) -> list[str]:
    return [code for kind, code in BLOCK.findall(text_of(name)) if kind == language]


def headings_of(path: Path) -> set[str]:
    """Return the headings of a document, as a link names them."""
    text = BLOCK.sub("", path.read_text("utf-8"))
    return {
        re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


def test_there_are_documents() -> None:
    assert {"README.md", "notebooks/guide/README.md", "notebooks/results/README.md"} <= set(
        DOCUMENTS
    )
    assert any(blocks_of(name, language="python") for name in DOCUMENTS)
    assert {words[0] for name in DOCUMENTS for words in commands_of(name)} == {
        "make",
        "smtc-lab",
    }


@in_every_document
def test_every_link_of_a_document_leads_somewhere(name: str) -> None:
    document = ROOT / name

    broken = []
    for target in LINK.findall(BLOCK.sub("", text_of(name))):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, heading = target.partition("#")
        path = (document.parent / file).resolve() if file else document
        is_there = path.exists() and path.is_relative_to(ROOT)
        if not is_there or (heading and heading not in headings_of(path)):
            broken.append(target)
    assert broken == []


@in_every_document
def test_the_python_of_a_document_names_what_there_is(name: str) -> None:
    for code in blocks_of(name, language="python"):
        tree = ast.parse(code)
        named = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "lab"
        }
        assert named <= set(smtc_lab.__all__)


def commands_of(name: str) -> list[list[str]]:
    """Return the words of each command line that a document shows for a shell."""
    return [
        words
        for code in blocks_of(name, language="")
        for line in code.replace("\\\n", " ").splitlines()
        if line.startswith(("smtc-lab ", "make "))
        and (words := shlex.split(line, comments=True))
    ]


@in_every_document
def test_the_commands_of_a_document_are_taken(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)

    for program, *words in commands_of(name):
        if program == "make":
            assert {word for word in words if "=" not in word} <= set(targets)
            continue
        for script in (tmp_path / word for word in words if word.endswith(".py")):
            script.parent.mkdir(parents=True, exist_ok=True)
            script.touch()
        command: click.Command = cli
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.commands[words.pop(0)]
        command.make_context(command.name, words)


def test_every_decision_is_indexed_by_room() -> None:
    text = text_of("DECISIONS.md")
    index, _, decisions = text.partition("\n## 1. ")
    indexed = {
        number
        for first, last in re.findall(r"\b(\d+)(?:\W(\d+))?\b", index)
        for number in range(int(first), int(last or first) + 1)
    }

    assert indexed == {1, *map(int, re.findall(r"^## (\d+)\. ", decisions, re.MULTILINE))}
