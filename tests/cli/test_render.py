from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


CLUSTER = ("--cluster", "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2")


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "train.py"
    path.write_text("", encoding="utf-8")
    return path


def test_a_slurm_script_goes_to_a_file(
    smtc_lab: Callable[..., Any], script: Path, tmp_path: Path
) -> None:
    out = tmp_path / "job.sh"

    said = smtc_lab(
        *("render", script, *CLUSTER, "--to", "slurm", "--name", "demo", "--out", out),
        *("--runs-dir", "/shared/runs", "--python", "/opt/python", "-p", "batch_size=32"),
    )

    assert (said.exit_code, said.out) == (0, f"Written: {out}\n")
    text = out.read_text("utf-8")
    assert "#SBATCH --job-name=demo\n" in text
    assert "exec /opt/python -m smtc_lab.launchers.render.slurm_start /shared/runs <<" in text
    assert '"batch_size": 32' in text


def test_a_jobset_is_printed(smtc_lab: Callable[..., Any], script: Path) -> None:
    said = smtc_lab(
        *(
            "render",
            script,
            *CLUSTER,
            "--to",
            "jobset",
            "--image",
            "train:1",
            "--claim",
            "runs",
        ),
        *("--max-runtime", "600"),
    )

    assert said.exit_code == 0
    assert said.out.startswith("# Training job 'train', written by smtc-lab.")
    assert 'kind: "JobSet"' in said.out
    assert "activeDeadlineSeconds: 600\n" in said.out


def test_a_job_is_spread_over_devices_by_two_options(
    smtc_lab: Callable[..., Any], script: Path
) -> None:
    cluster = ("--cluster", "train=ml.p3.8xlarge:2")
    said = smtc_lab(
        *("render", script, *cluster, "--to", "slurm", "--python", "/opt/python"),
        *("--data", "2", "--shard", "4"),
    )

    assert said.exit_code == 0, said.err
    assert '"data": 2' in said.out
    assert '"shard": 4' in said.out
