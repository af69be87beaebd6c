"""``auto`` in a process of its own: real backends, tried in copies of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.twins import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable

    Train = Callable[..., dict[str, Any]]

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.xla,
]

SCRIPT = str(Path(__file__).with_name("auto_script.py"))


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """Train a model with batch norm under ``auto``; return what was seen."""

    def run(slow: str, *, num_steps: int = 100_000) -> dict[str, Any]:
        environment = {
            **os.environ,
            "SMTC_LAB_HOME": str(tmp_path / "home"),
            "CXX": "/no/such/compiler",  # so inductor fails at once
            "OMP_NUM_THREADS": "2",
        }
        ended = subprocess.run(
            [sys.executable, SCRIPT, slow, str(num_steps)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[-4000:]
        assert "Warning" not in ended.stderr
        seen: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return seen

    return run


def test_xla_is_kept_after_it_was_tried_in_a_copy_and_learns_the_same(train: Train) -> None:
    seen = train("cpu")

    assert seen["backend"] == "xla"
    assert seen["distance"] <= SLACK
    assert seen["compilations"] == 1
    assert seen["copies_left"] == 0
    probes = {probe["backend"]: probe for probe in seen["probes"]}
    assert probes["xla"]["problem"] is None
    assert "CompilerError" not in str(probes["inductor"]["problem"])
    assert probes["inductor"]["step_time_s"] is None
    assert seen["probe_steps"] == 2 + probes["eager"]["steps"]


def test_what_was_tried_leaves_eager_steps_as_they_were(train: Train) -> None:
    seen = train("xla")

    assert seen["backend"] == "eager"
    assert seen["losses"] == seen["expected"]
    assert seen["xla_compilations"] == 0
    assert seen["copies_left"] == 0
    probes = {probe["backend"]: probe for probe in seen["probes"]}
    assert probes["xla"]["steps"] > 0
    assert probes["xla"]["step_time_s"] > probes["eager"]["step_time_s"]
