"""A cell tells how long an emulated comparison takes here, before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.cell import launching
from smtc_lab.views.cell.options import LaunchCommand

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_least_time_is_told_before_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import smtc_lab\n", encoding="utf-8")
    jobs = [
        TrainingJob(
            entry_point=str(script),
            cluster=Cluster.parse(f"{name}@g=ml.p3.2xlarge:1"),
            emulation=Emulation(time_dilation=20.0, device_step_time_s=0.03),
            max_steps=100,
        )
        for name in "ab"
    ]
    told: list[str] = []

    def started(*_: object, **__: object) -> str:
        told.append(capsys.readouterr().out)
        return "started"

    monkeypatch.setattr(launching, "launch_comparison", started)
    options = LaunchCommand(takes_file=False).parsed([]).params

    outcome = launching.start(jobs, Catalog.load(), options, keep=lambda _: None)

    assert outcome == "started"

    (said,) = told
    assert said.startswith("This takes at least 6 min here: 6 launches of 100 steps, ")
