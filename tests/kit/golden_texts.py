"""Whole texts of the product, one file for each surface: another wording is one command.

A test hands its texts over by case, and each is compared with what ``tests/golden/texts/`` has
of this test. ``make golden-texts`` writes these files anew; the diff is then what to look at.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "golden" / "texts"
_HEADER = re.compile(r"^(==|--) (.+)\n", re.MULTILINE)

GoldenTexts = Callable[[str, Mapping[str, str]], None]
"""Compares the texts of a surface, by case, with its file; a test calls it once a surface."""

Kept = dict[str, dict[str, str]]
"""What a file has: texts by test and case."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let texts be written instead of compared."""
    parser.addoption(
        "--renew-texts",
        action="store_true",
        help="write tests/golden/texts/ anew; runs only the tests that are compared with it",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests that have texts, where these are to be written."""
    if not config.getoption("renew_texts"):
        return
    others = [it for it in items if "golden_texts" not in getattr(it, "fixturenames", ())]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]


@pytest.fixture
def golden_texts(request: pytest.FixtureRequest) -> GoldenTexts:
    """Return a function that compares texts, or writes them where that is asked for."""
    test = request.node.nodeid.removeprefix("tests/")

    def compare(surface: str, texts: Mapping[str, str]) -> None:
        file = FOLDER / f"{surface}.txt"
        told = {case: trimmed(text) for case, text in texts.items()}
        if request.config.getoption("renew_texts"):
            renew(file, test, told)
        elif differing := differences(read(file).get(test, {}), told):
            pytest.fail(
                f"{differing}\n\nIs this meant? Renew {file.relative_to(TESTS.parent)}: "
                f"make golden-texts, or pytest 'tests/{test}' --renew-texts",
                pytrace=False,
            )

    return compare


def trimmed(text: str) -> str:
    """Return a text without spaces at the ends of its lines, as files keep it."""
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def differences(kept: Mapping[str, str], told: Mapping[str, str]) -> str:
    """Return what is not as it was kept: a diff, empty where nothing is."""
    return "\n".join(
        line
        for case in dict.fromkeys([*told, *kept])
        for line in difflib.unified_diff(
            kept[case].split("\n") if case in kept else [],
            told[case].split("\n") if case in told else [],
            f"{case}, as kept" if case in kept else f"{case}: not kept yet",
            f"{case}, as told" if case in told else f"{case}: no longer told",
            lineterm="",
        )
    )


def renew(file: Path, test: str, told: Mapping[str, str]) -> None:
    """Write the texts of a test into a file, beside those of tests that are still there."""
    kept = {each: texts for each, texts in read(file).items() if is_there(each)}
    kept[test] = dict(told)
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = [
        f"== {each}\n\n" + "\n".join(f"-- {case}\n{text}\n" for case, text in texts.items())
        for each, texts in sorted(kept.items())
    ]
    file.write_text("\n".join(entries), encoding="utf-8")
    if read(file) != kept:
        raise ValueError(f"A text or a case of {test} looks like a header of {file}.")


def read(file: Path) -> Kept:
    """Return what a file has; nothing where there is none."""
    kept: Kept = {}
    if file.is_file():
        _, *parts = _HEADER.split(file.read_text(encoding="utf-8"))
        for mark, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if mark == "==":
                cases = kept.setdefault(name, {})
            else:
                cases[name] = text.strip("\n")
    return kept


def is_there(test: str) -> bool:
    """Tell whether a test, named as pytest does it below tests/, still exists."""
    name, _, function = test.partition("::")
    file = TESTS / name
    found = f"def {function.partition('[')[0]}("
    return file.is_file() and found in file.read_text(encoding="utf-8")
