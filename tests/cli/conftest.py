"""The command line, in this process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from smtc_lab.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    exit_code: int
    out: str
    err: str


@pytest.fixture
def smtc_lab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Return a function that runs ``smtc-lab`` with arguments."""

    def run(*arguments: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["smtc-lab", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        assert isinstance(code, int)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path))
    return tmp_path
