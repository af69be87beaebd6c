from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.compared.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

TIMED = """
    from smtc_lab.runtime.instance_runtime import instance_runtime
    timer = instance_runtime().timer
    while not timer.is_done:
        timer.ask()
        timer.got(8)
        timer.end()
"""


@pytest.fixture
def script(home: Path) -> Path:
    path = home / "train.py"
    path.write_text(textwrap.dedent(TIMED), encoding="utf-8")
    return path


def test_compilers_are_compared_on_this_machine_as_it_is(
    smtc_lab: SmtcLab, home: Path, script: Path
) -> None:
    said = smtc_lab(
        *("compare", "--compiler", "inductor", "--steps", "20", "--rounds", "1"),
        *("--no-parity", "--precision", "medium", "--fallback", "eager", "--debug-compiler"),
        *("--json", home / "c.json", script),
    )

    assert said.exit_code == 0, said.err
    comparison = Comparison.from_json((home / "c.json").read_bytes())
    assert comparison.evidence == "measured"
    assert [item.name for item in comparison.clusters] == ["inductor"]
    for item in comparison.clusters:
        assert item.compiler is not None
        config = item.compiler.config
        assert config is not None
        assert (config.backend, config.precision) == (item.name, "medium")
        assert (config.fallback, config.debug) == ("eager", True)
        assert item.compiler.parity is None
    assert "inductor" in said.out
