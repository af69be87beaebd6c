from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.runtime.script.after_import import after_import

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "smtc_lab_after_import_example"


@pytest.fixture
def module_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    yield tmp_path / f"{NAME}.py"
    sys.modules.pop(NAME, None)
    sys.meta_path[:] = finders


def test_the_callback_comes_right_after_the_module_was_executed(module_file: Path) -> None:
    module_file.write_text("before = 1\nafter = 2\n", encoding="utf-8")
    seen: list[int] = []
    after_import(NAME, lambda: seen.append(sys.modules[NAME].after))

    importlib.import_module("json")
    assert seen == []
    module = importlib.import_module(NAME)
    importlib.import_module(NAME)
    importlib.reload(module)

    assert seen == [2]
    assert module.__spec__ is not None
    assert module.__file__ == str(module_file)


def test_to_ask_whether_a_module_is_there_is_no_import(module_file: Path) -> None:
    module_file.write_text("", encoding="utf-8")
    called: list[str] = []
    after_import(NAME, lambda: called.append("first"))
    after_import(NAME, lambda: called.append("second"))

    assert importlib.util.find_spec(NAME) is not None
    assert called == []
    importlib.import_module(NAME)

    assert sorted(called) == ["first", "second"]


def test_a_module_that_is_not_there_is_missed_as_ever() -> None:
    called: list[int] = []
    after_import(NAME, lambda: called.append(1))

    with pytest.raises(ModuleNotFoundError, match=f"No module named '{NAME}'"):
        importlib.import_module(NAME)
    assert called == []


def test_a_module_that_fails_is_not_called_imported(module_file: Path) -> None:
    module_file.write_text("raise ValueError('no such device')\n", encoding="utf-8")
    called: list[int] = []
    after_import(NAME, lambda: called.append(1))

    with pytest.raises(ValueError, match="no such device"):
        importlib.import_module(NAME)
    assert called == []
