from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.rules.before_launch import launch_cautions
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, DATA = "train=ml.p3.2xlarge", "data=ml.c5.9xlarge:1"
PLAIN = "from torch.utils.data import DataLoader\n"


def cautions(*clusters: str, script: Path | None = None, **values: Any) -> list[str]:
    entry_point = "train.py" if script is None else str(script)
    jobs = [
        TrainingJob(entry_point=entry_point, cluster=Cluster.parse(each), **values)
        for each in clusters
    ]
    return launch_cautions(jobs, Catalog.load())


def test_unlike_dataloaders_are_told_before_the_launches(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    clusters = (f"alone@{TRAIN}:1", f"fed@{TRAIN}:1,{DATA}")
    script.write_text(PLAIN, encoding="utf-8")

    (said,) = cautions(*clusters, script=script)

    assert "alone takes its batches through torch's own dataloader and fed, which" in said
    assert cautions(clusters[0], script=script) == []
    assert cautions(f"a@{TRAIN}:1,b=ml.p3.2xlarge:1", clusters[0], script=script) == []
    script.write_text("import smtc_lab as lab\n", encoding="utf-8")
    assert cautions(*clusters, script=script) == []
