"""Requests that SageMaker would refuse are refused here, and legal ones are not."""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.launchers.on_sagemaker.aws.request import training_request
from smtc_lab.launchers.on_sagemaker.aws.validate import request_problems, request_warnings
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from collections.abc import Callable

S3 = {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/train", "InstanceGroupNames": ["data"]}
LEGAL: dict[str, Any] = {
    "TrainingJobName": "hetero-1",
    "AlgorithmSpecification": {"TrainingImage": "image:1", "TrainingInputMode": "FastFile"},
    "RoleArn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
    "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": S3}}],
    "ResourceConfig": {
        "VolumeSizeInGB": 100,
        "InstanceGroups": [
            {
                "InstanceGroupName": "data",
                "InstanceType": "ml.c5.18xlarge",
                "InstanceCount": 2,
            },
            {
                "InstanceGroupName": "dnn",
                "InstanceType": "ml.p4d.24xlarge",
                "InstanceCount": 1,
            },
        ],
    },
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    request = copy.deepcopy(LEGAL)
    change(request)
    return request


def add_channel(request: dict[str, Any], **source: object) -> None:
    channel = {"ChannelName": "code", "DataSource": {"S3DataSource": {**S3, **source}}}
    request["InputDataConfig"].append(channel)


def metric(regex: str) -> Callable[[dict[str, Any]], object]:
    definition = {"Name": "loss", "Regex": regex}
    return lambda request: request["AlgorithmSpecification"].update(
        MetricDefinitions=[definition]
    )


BAD = {
    "both groups and a type": (
        lambda r: r["ResourceConfig"].update(InstanceType="ml.m5.xlarge", InstanceCount=1),
        r"cannot be specified with InstanceGroups",
    ),
    "neither groups nor a type": (
        lambda r: (r["ResourceConfig"].pop("InstanceGroups"), r.pop("InputDataConfig")),
        r"needs InstanceGroups, or InstanceType and InstanceCount",
    ),
    "six groups": (
        lambda r: r["ResourceConfig"]["InstanceGroups"].extend(
            {"InstanceGroupName": f"g{n}", "InstanceType": "ml.m5.xlarge", "InstanceCount": 1}
            for n in range(4)
        ),
        r"InstanceGroups has 6 items, but may have 5",
    ),
    "a group twice": (
        lambda r: r["ResourceConfig"]["InstanceGroups"][1].update(InstanceGroupName="data"),
        r"InstanceGroupName 'data' is used 2 times",
    ),
    "no instances": (
        lambda r: [g.update(InstanceCount=0) for g in r["ResourceConfig"]["InstanceGroups"]],
        r"asks for 0 instances",
    ),
    "kept instances of groups": (
        lambda r: r["ResourceConfig"].update(KeepAlivePeriodInSeconds=60),
        r"KeepAlivePeriodInSeconds=60 is not for InstanceGroups",
    ),
    "a channel of no group beside one": (
        lambda r: add_channel(r, InstanceGroupNames=[]),
        r"Some channels have assigned instance groups: \['train'\] while others not",
    ),
    "a channel of an unknown group": (
        lambda r: add_channel(r, InstanceGroupNames=["dnnn"]),
        r"'code' names the instance group 'dnnn'.*Choose among data, dnn",
    ),
    "a channel twice": (
        lambda r: r["InputDataConfig"].append(r["InputDataConfig"][0]),
        r"ChannelName 'train' is used 2 times",
    ),
    "a channel of a file URI": (
        lambda r: add_channel(r, S3Uri="https://bucket/train"),
        r"Write 's3://bucket/prefix'",
    ),
    "a name with an underscore": (
        lambda r: r.update(TrainingJobName="bad_name"),
        r"TrainingJobName='bad_name' is not of the form",
    ),
    "a name that is too long": (
        lambda r: r.update(TrainingJobName="a" * 64),
        r"has 64 characters, but may have 63",
    ),
    "spot without a longest wait": (
        lambda r: r.update(EnableManagedSpotTraining=True),
        r"Invalid MaxWaitTimeInSeconds. It must be present.*max_wait=None, max_runtime_s=\d+",
    ),
    "a wait shorter than the run": (
        lambda r: r.update(
            EnableManagedSpotTraining=True,
            StoppingCondition={"MaxRuntimeInSeconds": 100, "MaxWaitTimeInSeconds": 50},
        ),
        r"Invalid MaxWaitTimeInSeconds. It must be.*max_wait=50, max_runtime_s=100",
    ),
    "a wait without spot": (
        lambda r: r["StoppingCondition"].update(MaxWaitTimeInSeconds=7200),
        r"is for spot instances only",
    ),
    "29 days": (
        lambda r: r.update(StoppingCondition={"MaxRuntimeInSeconds": 29 * 86400}),
        r"which are 28 days",
    ),
    "a variable with a space": (
        lambda r: r.update(Environment={"a b": "x"}),
        r"Environment='a b' is not of the form",
    ),
    "101 variables": (
        lambda r: r.update(Environment={f"V{n}": "x" for n in range(101)}),
        r"Environment has 101 entries, but may have 100",
    ),
    "a long hyperparameter": (
        lambda r: r.update(HyperParameters={"x": "y" * 2501}),
        r"has 2501 characters, but may have 2500",
    ),
    "a hyperparameter that is no text": (
        lambda r: r.update(HyperParameters={"lr": 0.1}),
        r"HyperParameters\.lr=0\.1 is not text",
    ),
    "an unknown field": (
        lambda r: r.update(InstanceGroups=[]),
        r"InstanceGroups is not a field that SageMaker knows",
    ),
    "a missing field": (lambda r: r.pop("RoleArn"), r"RoleArn is missing"),
    "an unknown mode": (
        lambda r: r["AlgorithmSpecification"].update(TrainingInputMode="Files"),
        r"'Files' is not allowed\. Choose among Pipe, File, FastFile",
    ),
    "31 attempts": (
        lambda r: r.update(RetryStrategy={"MaximumRetryAttempts": 31}),
        r"MaximumRetryAttempts=31 is above 30",
    ),
    "no container": (lambda r: r.pop("AlgorithmSpecification"), r"no container to run"),
    "a metric without a number": (metric("loss"), r"with 0 groups, but needs one"),
    "a metric that is no expression": (metric("loss=("), r"the expression 'loss=\('"),
    "a profiler that looks all the time": (
        lambda r: r.update(ProfilerConfig={"ProfilingIntervalInMilliseconds": 7}),
        r"ProfilingIntervalInMilliseconds=7 is not allowed",
    ),
    "an output that is not in S3": (
        lambda r: r.update(OutputDataConfig={"S3OutputPath": "https://bucket/out"}),
        r"S3OutputPath='https://bucket/out' is not a place in S3",
    ),
    "a tag of AWS": (
        lambda r: r.update(Tags=[{"Key": "aws:owner", "Value": "me"}]),
        r"begins with 'aws:'",
    ),
}


def test_a_legal_request_has_no_problem() -> None:
    assert request_problems(LEGAL) == []
    assert request_warnings(LEGAL) == []


@pytest.mark.parametrize("name", BAD)
def test_a_request_that_sagemaker_would_refuse_is_refused_here(name: str) -> None:
    change, message = BAD[name]

    problems = request_problems(changed(change))

    assert re.search(message, " ".join(problems)), problems


def test_an_instance_type_that_is_not_known_is_a_warning() -> None:
    request = changed(
        lambda r: r["ResourceConfig"]["InstanceGroups"][0].update(InstanceType="ml.c99.large")
    )

    assert request_problems(request) == []
    assert "'ml.c99.large' is not among the" in request_warnings(request)[0]


NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)
TYPES = st.sampled_from(["ml.p3.2xlarge", "ml.c5.9xlarge", "ml.p4d.24xlarge", "ml.c99.large"])

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


@st.composite
def jobs(draw: st.DrawFn) -> TrainingJob:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    groups = [
        InstanceGroup(name, draw(TYPES), draw(st.integers(1, 9)), role="train")
        for name in names
    ]
    assigns = draw(st.booleans())
    channels = [
        Channel(
            channel_name=name,
            source="s3://data/" + name,
            instance_group_names=draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
            if assigns
            else (),
        )
        for name in draw(st.lists(NAMES.filter(lambda n: n != "smtc"), max_size=4, unique=True))
    ]
    return TrainingJob(
        entry_point="train.py",
        job_name="drawn",
        cluster=Cluster(instance_groups=groups),
        channels=channels,
        hyperparameters=draw(st.dictionaries(NAMES.map("h{}".format), TEXTS, max_size=5)),
        max_runtime_s=draw(st.floats(0.001, 28 * 86400)),
    )


SETTINGS = st.builds(
    lambda **drawn: SageMakerSettings(
        role_arn="arn:aws:iam::123456789012:role/R", image_uri="i", s3_uri="s3://abc", **drawn
    ),
    use_spot=st.booleans(),
    volume_gb=st.integers(1, 16384),
    retry_attempts=st.integers(0, 30),
    profiler=st.booleans(),
    metric_definitions=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(job=jobs(), given=SETTINGS)
def test_the_request_of_any_legal_job_is_legal(
    job: TrainingJob, given: SageMakerSettings
) -> None:
    assert request_problems(training_request(job, given)) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(field=st.sampled_from(sorted(LEGAL)), value=JSON)
def test_a_field_of_any_content_is_told_in_words_and_never_breaks_the_check(
    field: str, value: object
) -> None:
    problems = request_problems({**LEGAL, field: value})

    assert all(problem.endswith(".") for problem in problems)
