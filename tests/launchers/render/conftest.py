"""Jobs that are written down for a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HETEROGENEOUS = "dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2"


@pytest.fixture
def make_job(tmp_path: Path) -> Callable[..., TrainingJob]:
    def make(
        script: str = "", *, cluster: str = HETEROGENEOUS, **values: object
    ) -> TrainingJob:
        path = tmp_path / "train.py"
        path.write_text(script, encoding="utf-8")
        given = {"job_name": "demo", **values}
        return TrainingJob(entry_point=str(path), cluster=Cluster.parse(cluster), **given)

    return make
