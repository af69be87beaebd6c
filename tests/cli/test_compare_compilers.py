from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.store.run_folder import find_runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    SmtcLab = Callable[..., Any]

TIMED = """
    from smtc_lab.runtime.instance_runtime import instance_runtime
    if instance_runtime().context.role == "data":
        instance_runtime().context.say_ready()
        import time
        time.sleep(3600)
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


def test_all_that_is_wrong_with_compilers_is_said_at_once(
    smtc_lab: SmtcLab, home: Path
) -> None:
    said = smtc_lab(
        *("compare", "--compiler", "eager,tpu", "--rounds", "0", "--device-time", "0.04"),
        home / "nowhere.py",
    )

    assert said.exit_code == 2
    for words in (
        "Refused: --compiler: TrainingCompilerConfig.backend='tpu'",
        "--rounds 0 would launch nothing",
        "--device-time is part of an emulation, and without --cluster there is none",
        "nowhere.py' is not a file",
    ):
        assert sum(words in line for line in said.err.splitlines()) == 1, words
    assert find_runs() == []


def test_options_of_compilers_want_a_compiler(smtc_lab: SmtcLab, script: Path) -> None:
    said = smtc_lab(
        *("compare", "--cluster", "a=local:1", "--precision", "bf16", "--ablation"),
        *("--no-parity", "--fallback", "eager", "--debug-compiler", script),
    )

    assert said.exit_code == 2
    for option in ("precision", "ablation", "no-parity", "fallback", "debug-compiler"):
        assert f"--{option} is about compilers, and --compiler names none" in said.err


def test_a_declared_device_time_leaves_a_compiler_nothing_to_do(
    smtc_lab: SmtcLab, script: Path
) -> None:
    said = smtc_lab(
        *("compare", "--cluster", "a=ml.p3.2xlarge:1", "--compiler", "eager,inductor"),
        *("--device-time", "0.04", script),
    )

    assert said.exit_code == 2
    assert "has a declared step time of 0.04 s, which no compiler can change" in said.err
