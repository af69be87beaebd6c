"""A run of this machine, planned for SageMaker, and not started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import LauncherError, SpecError
from smtc_lab.launchers.kept_source import keep_source
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from smtc_lab.launchers.on_sagemaker.settings import ENVIRONMENT
from smtc_lab.views.launch.elsewhere_display import to_html
from tests.kit.records import run_records
from tests.kit.run_folders import opened, write_run_folder
from tests.launchers.on_sagemaker.conftest import ACCOUNT

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.launchers.run import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name, variable in ENVIRONMENT.items():
        if name in ACCOUNT:
            monkeypatch.setenv(variable, ACCOUNT[name])
    monkeypatch.setenv("AWS_DEFAULT_REGION", ACCOUNT["region"])
    records = run_records(job_name="here")
    folder = write_run_folder(tmp_path / "runs", records)
    script = tmp_path / "code" / "train.py"
    script.parent.mkdir()
    script.write_text("print(1)\n")
    given = {"entry_point": str(script), "working_dir": "here"}
    folder.job_file.write_text(records.job.model_copy(update=given).to_json())
    keep_source(folder, str(script))
    return opened(folder)


def test_every_difference_and_the_greatest_cost_are_shown_and_nothing_is_started(
    run: Run,
) -> None:
    there = run.on("sagemaker", cluster="gpu=ml.p3.2xlarge:1", max_runtime_s=3600)

    differences = {name: (was, then) for name, was, then in there.differences}
    assert differences["engine"] == ("local", "sagemaker")
    assert differences["working_dir"] == ("here", "null")
    assert differences["max_runtime_s"][1] == "3600.0"
    assert {"cluster", "packages"} <= differences.keys()
    assert "environment" not in differences
    assert there.plan.order is not None
    assert there.plan.order.words in str(there)
    assert "What differs" in to_html(there)
    with pytest.raises(LauncherError, match="confirm=True"):
        there.launch()
    assert [path.name for path in run.folder.path.parent.iterdir()] == ["here"]


def test_what_cannot_run_there_is_refused_at_once(run: Run, tmp_path: Path) -> None:
    launcher = SageMakerLauncher(root=tmp_path / "other", **ACCOUNT)

    with pytest.raises(SpecError, match="which is this machine"):
        run.on(launcher, cluster="here=local:1")
