"""The request of a job, made without credentials and without network."""

from __future__ import annotations

import json
import re
import socket
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.errors import SpecError
from smtc_lab.launchers.on_sagemaker import plan as plan_module
from smtc_lab.launchers.on_sagemaker.launcher import SageMakerLauncher
from smtc_lab.launchers.on_sagemaker.plan import make_plan
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
from smtc_lab.metrics.records.lines import row_lines
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.emulation import Emulation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from smtc_lab.launchers.launcher import LaunchPlan
    from smtc_lab.spec.job import TrainingJob

    MakeJob = Callable[..., TrainingJob]

HETEROGENEOUS = "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:2"
ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
}


def planned(job: TrainingJob, **settings: object) -> LaunchPlan:
    return make_plan(job, SageMakerSettings(**ACCOUNT, **settings), Catalog.load())


def request_of(job: TrainingJob, **settings: object) -> dict:
    return planned(job, **settings).facts["sagemaker"]["request"]


def refusal(job: TrainingJob, **settings: object) -> str:
    with pytest.raises(SpecError) as refused:
        planned(job, **settings)
    return str(refused.value)


def groups_by_channel(request: dict) -> dict[str, object]:
    return {
        channel["ChannelName"]: channel["DataSource"]["S3DataSource"].get("InstanceGroupNames")
        for channel in request["InputDataConfig"]
    }


def test_a_plan_takes_neither_network_nor_credentials_and_holds_no_secret(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object) -> None:
        raise AssertionError("a plan reached for the network")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-to-be-found")

    plan = SageMakerLauncher(**ACCOUNT).plan(make_job("", cluster=HETEROGENEOUS))

    assert "not-to-be-found" not in json.dumps(plan.facts)
    assert plan.usd_per_hour == pytest.approx(3.825 + 2 * 1.836)
    assert plan.facts["worst_case_usd"] == pytest.approx(plan.usd_per_hour * 24)
    assert [(item.host, item.role, item.rank) for item in plan.instances] == [
        ("algo-1", "train", 0),
        ("algo-2", "data", None),
        ("algo-3", "data", None),
    ]


def test_several_groups_are_instance_groups_and_one_is_a_type_and_a_count(
    make_job: MakeJob,
) -> None:
    several = request_of(make_job("", cluster=HETEROGENEOUS))["ResourceConfig"]
    one = request_of(make_job("", cluster="all=ml.p3.2xlarge:2"))["ResourceConfig"]

    assert several == {
        "VolumeSizeInGB": 30,
        "InstanceGroups": [
            {
                "InstanceGroupName": "dnn_group",
                "InstanceType": "ml.p3.2xlarge",
                "InstanceCount": 1,
            },
            {
                "InstanceGroupName": "data_group",
                "InstanceType": "ml.c5.9xlarge",
                "InstanceCount": 2,
            },
        ],
    }
    assert one == {"VolumeSizeInGB": 30, "InstanceType": "ml.p3.2xlarge", "InstanceCount": 2}


def test_the_source_goes_to_every_group_where_channels_name_groups(make_job: MakeJob) -> None:
    images = Channel(
        channel_name="images", source="s3://data/images", instance_group_names=["data_group"]
    )
    anywhere = Channel(channel_name="images", source="s3://data/images")
    alone = Channel(
        channel_name="images", source="s3://data/images", instance_group_names=["dnn_group"]
    )

    named = request_of(make_job("", cluster=HETEROGENEOUS, channels=[images]))
    unnamed = request_of(make_job("", cluster=HETEROGENEOUS, channels=[anywhere]))
    single = request_of(make_job("", channels=[alone]))

    both = ["dnn_group", "data_group"]
    assert groups_by_channel(named) == {"smtc": both, "images": ["data_group"]}
    assert groups_by_channel(unnamed) == {"smtc": None, "images": None}
    assert groups_by_channel(single) == {"smtc": None, "images": None}


def test_a_channel_comes_from_s3_or_from_a_folder_that_goes_there(
    make_job: MakeJob, tmp_path: Path
) -> None:
    (tmp_path / "images").mkdir()
    there = Channel(channel_name="there", source="s3://data/train.csv")
    here = Channel(channel_name="here", source=str(tmp_path / "images"))

    request = request_of(make_job("", job_name="demo", channels=[there, here]))

    uris = {
        channel["ChannelName"]: channel["DataSource"]["S3DataSource"]["S3Uri"]
        for channel in request["InputDataConfig"]
    }
    assert uris == {
        "smtc": "s3://the-bucket/lab/demo/source/",
        "there": "s3://data/train.csv",
        "here": "s3://the-bucket/lab/demo/channels/here/",
    }


def test_a_job_always_has_a_time_limit_and_spot_has_one_with_its_waits(
    make_job: MakeJob,
) -> None:
    on_demand = request_of(make_job("", max_runtime_s=90.5))
    spot = request_of(make_job("", max_runtime_s=90.5), use_spot=True)

    assert on_demand["StoppingCondition"] == {"MaxRuntimeInSeconds": 91}
    assert "EnableManagedSpotTraining" not in on_demand
    assert spot["EnableManagedSpotTraining"] is True
    assert spot["StoppingCondition"] == {
        "MaxRuntimeInSeconds": 91,
        "MaxWaitTimeInSeconds": 3691,
    }
    assert spot["CheckpointConfig"]["LocalPath"] == "/opt/ml/checkpoints"


def test_a_spot_job_is_asked_for_with_its_own_limits_and_checkpoints(
    make_job: MakeJob,
) -> None:
    asked = request_of(
        make_job(
            "",
            use_spot_instances=True,
            max_runtime_s=3600.0,
            max_wait=7200.0,
            checkpoint_s3_uri="s3://kept/here",
            checkpoint_local_path="/opt/ml/kept",
        )
    )

    assert asked["EnableManagedSpotTraining"] is True
    assert asked["StoppingCondition"] == {
        "MaxRuntimeInSeconds": 3600,
        "MaxWaitTimeInSeconds": 7200,
    }
    assert asked["CheckpointConfig"] == {
        "S3Uri": "s3://kept/here",
        "LocalPath": "/opt/ml/kept",
    }


def test_the_jobs_own_words_on_spot_go_before_the_older_ones_of_the_settings(
    make_job: MakeJob,
) -> None:
    older = planned(make_job("", max_runtime_s=60.0), use_spot=True, max_wait_s=90.0)
    own = make_job("", max_runtime_s=60.0, use_spot_instances=True, max_wait=120.0)
    both = planned(own, use_spot=True, max_wait_s=90.0)
    neither = planned(make_job("", max_runtime_s=60.0, use_spot_instances=True))

    waits = [
        each.facts["sagemaker"]["request"]["StoppingCondition"]["MaxWaitTimeInSeconds"]
        for each in (older, both, neither)
    ]
    assert waits == [90, 120, 3660]
    assert older.job.use_spot_instances is True
    assert [len(each.facts["warnings"]) for each in (older, both, neither)] == [0, 0, 1]
    assert "SageMaker is told 3660 s" in neither.facts["warnings"][0]
    assert all(
        "which spot instances stay below" in each.order.words for each in (both, neither)
    )


@pytest.mark.parametrize("path", ["/opt/ml", "/opt/ml/smtc_lab", "/opt/ml/smtc_lab/x", "/"])
def test_checkpoints_are_not_kept_where_a_container_removes_them(
    make_job: MakeJob, path: str
) -> None:
    assert "Choose another folder" in refusal(make_job("", checkpoint_local_path=path))


def test_metric_definitions_find_our_records_and_what_scripts_print(make_job: MakeJob) -> None:
    container = request_of(make_job(""))["AlgorithmSpecification"]
    definitions = {item["Name"]: item["Regex"] for item in container["MetricDefinitions"]}

    def found(name: str, line: str) -> str | None:
        match = re.search(definitions[name], line)
        return match[1] if match else None

    steps = [("step_record", [step, 9.0, 2.5e-5, 0.001, None, 8, True]) for step in range(2)]
    (record,) = row_lines(b"key", {"host": "algo-1"}, first=0, rows=steps)
    assert found("step_time_s", record) == "2.5e-05"
    assert found("data_wait_s", record) == "0.001"
    assert found("samples_per_s", record) == "320000.0"
    assert found("loss", "epoch 3, loss=0.25 accuracy=0.9") == "0.25"
    assert found("accuracy", "epoch 3, loss=0.25 accuracy=0.9") == "0.9"
    assert found("loss", "val_loss=0.5") is None


def test_metric_definitions_of_a_job_come_first_and_40_at_most(make_job: MakeJob) -> None:
    own = [{"Name": "loss", "Regex": "LOSS ([0-9.]+)"}]
    more = [{"Name": f"m{number}", "Regex": "(a)"} for number in range(38)]

    sent = request_of(make_job("", metric_definitions=[*own, *more]))["AlgorithmSpecification"]

    assert sent["MetricDefinitions"][:39] == [*own, *more]
    assert [each["Name"] for each in sent["MetricDefinitions"][39:]] == ["step_time_s"]


def test_everything_that_sagemaker_would_refuse_is_told_at_once(
    make_job: MakeJob, tmp_path: Path
) -> None:
    job = make_job(
        "",
        cluster="dnn_group=ml.p3.2xlarge:1,here=local:1:data",
        emulation=Emulation(device_step_time_s=0.1),
        environment={"AWS_SECRET_ACCESS_KEY": "private", "LONG": "x" * 513},
        hyperparameters={"words": "y" * 2600},
        channels=[Channel(channel_name="images", source=str(tmp_path / "nowhere"))],
    )

    message = refusal(job)

    for part in (
        r"'here' has the type 'local', which is this machine",
        r"Drop the emulation",
        r"AWS_SECRET_ACCESS_KEY would be shown to everyone",
        r"Environment\.LONG has 513 characters, but may have 512",
        r"HyperParameters\.words=.* has 2602 characters, but may have 2500",
        r"'images' has the source .* neither a folder of this machine nor in S3",
    ):
        assert re.search(part, message), part
    assert "private" not in message
    assert SageMakerLauncher(**ACCOUNT).check(job) == message.split("\n")


def test_a_channel_that_is_too_large_to_be_sent_along_belongs_into_s3(
    make_job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "one.bin").write_bytes(b"x" * 100)
    images = Channel(channel_name="images", source=str(tmp_path / "images"))
    monkeypatch.setattr(plan_module, "MAX_CHANNEL_BYTES", 99)

    message = refusal(make_job("", channels=[images]))

    assert "'images'" in message
    assert "aws s3 sync" in message


def test_a_type_that_is_too_new_needs_a_role_and_has_no_price(make_job: MakeJob) -> None:
    message = refusal(make_job("", cluster="dnn_group=ml.p9.48xlarge:1"))
    plan = planned(make_job("", cluster="dnn_group=ml.p9.48xlarge:1:train"))

    assert "'ml.p9.48xlarge' is not one of the" in message
    assert "role" in message
    assert plan.usd_per_hour is None
    assert plan.facts["worst_case_usd"] is None
    assert plan.price_notes == ("ml.p9.48xlarge: price unknown",)
    assert "does not exist" in plan.facts["warnings"][0]


def test_a_launcher_refuses_an_option_that_it_does_not_have() -> None:
    from smtc_lab.errors import LauncherError
    from smtc_lab.launchers.run import launcher_named

    assert launcher_named("sagemaker", confirm=True, max_usd=20.0, **ACCOUNT)
    with pytest.raises(LauncherError, match=r"takes no option max_eur.*max_usd"):
        launcher_named("sagemaker", max_eur=20.0)
