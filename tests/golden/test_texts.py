"""Texts that are kept in files: what is compared, and what a renewal leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kit.golden_texts import FOLDER, differences, is_there, read, renew, trimmed

if TYPE_CHECKING:
    from pathlib import Path

HERE = "golden/test_texts.py::test_each_text_belongs_to_a_test_that_is_there"
OTHER = "golden/test_texts.py::test_a_renewal_of_one_test_keeps_the_texts_of_others"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_each_text_belongs_to_a_test_that_is_there(file: Path) -> None:
    lost = [test for test in read(file) if not is_there(test)]

    assert lost == [], f"make golden-texts takes them out of {file.name}"


def test_a_text_that_is_new_another_or_no_longer_told_is_named() -> None:
    kept = {"a": "one\ntwo", "b": "same", "c": "old"}

    found = differences(kept, {"a": "one\nthree", "b": "same", "d": "new"})

    assert found.splitlines() == [
        *("--- a, as kept", "+++ a, as told", "@@ -1,2 +1,2 @@", " one", "-two", "+three"),
        *("--- d: not kept yet", "+++ d, as told", "@@ -0,0 +1 @@", "+new"),
        *("--- c, as kept", "+++ c: no longer told", "@@ -1 +0,0 @@", "-old"),
    ]
    assert differences(kept, kept) == ""


def test_a_renewal_of_one_test_keeps_the_texts_of_others(tmp_path: Path) -> None:
    file = tmp_path / "surface.txt"
    renew(file, OTHER, {"b": "two\n\nlines", "a": ""})
    renew(file, "golden/test_gone.py::test_gone", {"a": "gone"})

    renew(file, HERE, {"case": trimmed("\nsome text  \n of it\n")})

    assert read(file) == {
        HERE: {"case": "some text\n of it"},
        OTHER: {"b": "two\n\nlines", "a": ""},
    }
    assert list(read(file)[OTHER]) == ["b", "a"]
    with pytest.raises(ValueError, match="looks like a header"):
        renew(file, HERE, {"case": "text\n-- case\nmore"})
