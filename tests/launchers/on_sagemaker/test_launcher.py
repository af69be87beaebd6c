"""The launcher against a server that passes for AWS, up to the moment when the job runs."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_sagemaker import launcher as launcher_module
from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.launchers.on_sagemaker.aws.training_jobs import TrainingJobs
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from smtc_lab.spec.channel import Channel
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from smtc_lab.spec.job import TrainingJob
    from smtc_lab.store.run_folder import RunFolder

    MakeJob = Callable[..., TrainingJob]
    MakeLauncher = Callable[..., SageMakerLauncher]

ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
    "region": "us-east-1",
}
HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1"

pytestmark = pytest.mark.usefixtures("bucket")


@pytest.fixture
def bucket(fake: str) -> Iterator[None]:
    """The bucket of the account, and the end of every job that a test has started."""
    assert fake
    client("s3", "us-east-1").create_bucket(Bucket="the-bucket")
    yield
    jobs = TrainingJobs(client("sagemaker", "us-east-1"))
    for name in running_jobs():
        jobs.stop(name)


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Supervisors that would have been started: each would follow the job to its end."""
    started: list[dict[str, Any]] = []

    def start(folder: RunFolder, **options: object) -> None:
        started.append({"folder": folder, **options})

    monkeypatch.setattr(launcher_module, "start_supervisor", start)
    return started


@pytest.fixture
def make_launcher(root: Path) -> MakeLauncher:
    def make(**options: object) -> SageMakerLauncher:
        return SageMakerLauncher(root=root, **{"confirm": True, **ACCOUNT, **options})

    return make


def running_jobs() -> list[str]:
    pages = client("sagemaker", "us-east-1").list_training_jobs(StatusEquals="InProgress")
    return [item["TrainingJobName"] for item in pages["TrainingJobSummaries"]]


def objects(prefix: str) -> dict[str, bytes]:
    s3 = client("s3", "us-east-1")
    found = s3.list_objects_v2(Bucket="the-bucket", Prefix=prefix).get("Contents", [])
    return {
        item["Key"].removeprefix(prefix): s3.get_object(Bucket="the-bucket", Key=item["Key"])[
            "Body"
        ].read()
        for item in found
    }


def test_a_start_uploads_the_source_creates_the_job_and_hands_it_to_a_supervisor(
    make_job: MakeJob,
    make_launcher: MakeLauncher,
    supervised: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "one.txt").write_text("pixels", encoding="utf-8")
    images = Channel(channel_name="images", source=str(tmp_path / "images"))
    job = make_job("print('hi')", cluster=HETEROGENEOUS, job_name="whole", channels=[images])
    launcher = make_launcher()
    plan = launcher.plan(job)

    handle = launcher.start(plan, detach=True)

    assert handle.remote == {"training_job_name": "whole", "region": "us-east-1"}
    described = client("sagemaker", "us-east-1").describe_training_job(TrainingJobName="whole")
    request = plan.facts["sagemaker"]["request"]
    assert described["ResourceConfig"] == request["ResourceConfig"]
    assert described["StoppingCondition"] == request["StoppingCondition"]
    (supervisor,) = supervised
    assert supervisor["detach"] is True
    assert supervisor["environment"]["AWS_ACCESS_KEY_ID"] == "AKIAIOSFODNN7EXAMPLE"
    assert objects("lab/whole/channels/") == {"images/one.txt": b"pixels"}
    source = objects("lab/whole/source/")
    assert set(source) == {"start.py", "source.tar.gz", "job.json", "secret"}
    assert source["secret"] == supervisor["folder"].secret_file.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(source["source.tar.gz"])) as archive:
        assert archive.extractfile("code/train.py").read() == b"print('hi')"
    facts = json.loads(source["job.json"])
    assert facts["agents"]["algo-2"]["role"] == "data"
    assert facts["agents"]["algo-1"]["channels"] == {"images": "/opt/ml/input/data/images"}


def test_a_second_start_of_the_same_plan_creates_nothing(
    make_job: MakeJob, make_launcher: MakeLauncher, supervised: list[dict[str, Any]]
) -> None:
    launcher = make_launcher()
    plan = launcher.plan(make_job("", job_name="twice"))

    first = launcher.start(plan)

    assert launcher.start(plan) == first
    assert len(supervised) == 1


def test_a_job_whose_folder_was_lost_is_followed_again_and_not_paid_for_twice(
    make_job: MakeJob, make_launcher: MakeLauncher, supervised: list[dict[str, Any]], root: Path
) -> None:
    launcher = make_launcher()
    plan = launcher.plan(make_job("", job_name="lost"))
    launcher.start(plan)
    secret = objects("lab/lost/source/")["secret"]
    (root / "lost").rename(root.parent / "moved")

    launcher.start(plan)

    assert len(supervised) == 2
    assert objects("lab/lost/source/")["secret"] == secret


def test_a_name_that_another_job_has_is_refused_before_anything_is_touched(
    make_job: MakeJob,
    make_launcher: MakeLauncher,
    supervised: list[dict[str, Any]],
    root: Path,
) -> None:
    make_launcher().start(make_launcher().plan(make_job("", job_name="taken")))
    (root / "taken").rename(root.parent / "moved")
    before = objects("lab/taken/source/")
    other = make_launcher(volume_gb=99)

    with pytest.raises(
        LauncherError, match=r"named 'taken' already .* choose another job_name"
    ):
        other.start(other.plan(make_job("", job_name="taken")))

    assert objects("lab/taken/source/") == before
    assert not (root / "taken").exists()
    assert len(supervised) == 1


def test_nothing_is_sent_before_the_cost_was_confirmed(
    make_job: MakeJob, make_launcher: MakeLauncher, root: Path
) -> None:
    launcher = make_launcher(confirm=False)

    with pytest.raises(LauncherError, match=r"at most \$\d.*Pass confirm=True"):
        launcher.start(launcher.plan(make_job("", job_name="costly")))

    assert objects("lab/costly/") == {}
    assert not (root / "costly").exists()


def test_a_refused_upload_leaves_nothing_and_the_name_free(
    make_job: MakeJob, make_launcher: MakeLauncher, root: Path
) -> None:
    launcher = make_launcher(s3_uri="s3://no-such-bucket/lab")

    with pytest.raises(LauncherError, match=r"NoSuchBucket.*Create the bucket"):
        launcher.start(launcher.plan(make_job("", job_name="homeless")))

    assert not (root / "homeless").exists()
    assert "homeless" not in running_jobs()


def test_a_job_that_cannot_be_followed_is_stopped_and_leaves_nothing(
    make_job: MakeJob,
    make_launcher: MakeLauncher,
    monkeypatch: pytest.MonkeyPatch,
    root: Path,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LauncherError("The supervisor ended before the run began.")

    monkeypatch.setattr(launcher_module, "start_supervisor", fail)
    launcher = make_launcher()

    with pytest.raises(LauncherError, match=r"supervisor ended"):
        launcher.start(launcher.plan(make_job("", job_name="alone")))

    wait_until(lambda: "alone" not in running_jobs(), what="the end of the job")
    assert objects("lab/alone/source/") == {}
    assert not (root / "alone").exists()


@pytest.mark.usefixtures("supervised")
def test_sweep_finds_what_runs_and_is_followed_by_nobody_with_its_price_and_stops_it(
    make_job: MakeJob, make_launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    launcher = make_launcher()
    body = "import time; time.sleep(3600)"
    launcher.start(launcher.plan(make_job(body, cluster=HETEROGENEOUS, job_name="forgotten")))
    wait_until(lambda: "forgotten" in running_jobs(), what="the job")

    found = {leftover.job_name: leftover.what for leftover in launcher.sweep()}

    assert "training job in us-east-1" in found["forgotten"]
    assert "$5.661/h by the catalog" in found["forgotten"]
    said = CliRunner().invoke(cli, ["runs", "sweep", "--on", "sagemaker", "--stop"]).output
    assert said == f"forgotten: {found['forgotten']}, ended\n"
    assert "forgotten" not in running_jobs()
    assert launcher.sweep() == []
