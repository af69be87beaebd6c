from __future__ import annotations

import copy
import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from smtc_lab.errors import SpecError
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob

if TYPE_CHECKING:
    from smtc_lab.spec.base import Strict

SPECS: list[type[Strict]] = [
    Channel,
    Cluster,
    Distribution,
    Emulation,
    InstanceGroup,
    TrainingCompilerConfig,
    TrainingJob,
]

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**70), 2**70)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
positive = st.floats(1e-9, 1e9)
clusters = st.builds(
    Cluster,
    instance_groups=st.lists(
        st.builds(InstanceGroup, names, st.just("ml.c5.9xlarge"), st.integers(1, 99)),
        min_size=1,
        max_size=5,
        unique_by=lambda group: group.instance_group_name,
    ),
    name=st.none() | names,
)
jobs = st.builds(
    TrainingJob,
    entry_point=texts.map(lambda text: f"{text}.py"),
    cluster=clusters,
    job_name=st.none() | st.from_regex(r"[A-Za-z0-9](-?[A-Za-z0-9]){0,31}", fullmatch=True),
    hyperparameters=st.dictionaries(
        st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,9}", fullmatch=True), json_values, max_size=4
    ),
    channels=st.lists(
        st.builds(Channel, channel_name=names, source=texts.map(lambda text: f"/{text}")),
        max_size=3,
        unique_by=lambda channel: channel.channel_name,
    ),
    environment=st.dictionaries(
        st.from_regex(r"X[A-Z0-9_]{0,9}", fullmatch=True), texts, max_size=3
    ),
    compiler_config=st.none()
    | st.builds(TrainingCompilerConfig, enabled=st.booleans(), debug=st.booleans()),
    distribution=st.none()
    | st.just("auto")
    | st.builds(
        Distribution,
        data=st.none() | st.integers(1, 1000),
        shard=st.integers(1, 1000),
        processes_per_host=st.none() | st.integers(1, 1000),
        instance_groups=st.lists(names, max_size=2),
    ),
    emulation=st.none()
    | st.builds(
        Emulation,
        cores_per_vcpu=st.none() | positive,
        device_step_time_s=st.none() | positive,
        relative_cpu_speed=st.dictionaries(names, st.floats(0.01, 100), max_size=2),
    ),
    seed=st.integers(0, 2**63 - 1),
    max_steps=st.none() | st.integers(1, 10**12),
    max_runtime_s=st.floats(1e-6, 28 * 24 * 3600),
    num_loader_workers=st.none() | st.integers(0, 64),
    num_data_workers=st.none() | st.integers(1, 64),
)

SCHEMA = Draft202012Validator(TrainingJob.model_json_schema())


@given(jobs)
@settings(max_examples=60, deadline=None)
def test_a_job_goes_to_json_and_back_unchanged(job: TrainingJob) -> None:
    assert TrainingJob.from_json(job.to_json()) == job
    assert TrainingJob.from_json(job.to_json(indent=None).encode()) == job


@given(jobs)
@settings(max_examples=40, deadline=None)
def test_a_legal_job_fits_the_schema(job: TrainingJob) -> None:
    SCHEMA.validate(json.loads(job.to_json()))


@given(jobs)
@settings(max_examples=10, deadline=None)
def test_a_job_survives_copying_and_pickling(job: TrainingJob) -> None:
    assert copy.deepcopy(job) == job
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301  our own bytes


@pytest.mark.parametrize("spec", SPECS)
def test_every_schema_is_a_json_schema_with_a_description_of_each_field(
    spec: type[Strict],
) -> None:
    schema = spec.model_json_schema()

    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert all("description" in field for field in schema["properties"].values())


LEGAL: dict[str, Any] = {
    "entry_point": "train.py",
    "cluster": {"instance_groups": [{"instance_group_name": "a", "instance_type": "local"}]},
}


def changed(path: str, value: object) -> dict[str, Any]:
    spec = copy.deepcopy(LEGAL)
    *parents, last = path.split("/")
    place: Any = spec
    for parent in parents:
        place = place[int(parent)] if isinstance(place, list) else place.setdefault(parent, {})
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return spec


GROUP = {"instance_group_name": "a", "instance_type": "local"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("entry_point", "train.sh"),
        ("entry_point", None),
        ("epochs", 1),
        ("job_name", "a" * 64),
        ("job_name", "-a"),
        ("cluster/name", ""),
        ("cluster/name", "a" * 65),
        ("cluster/instance_groups", []),
        ("cluster/instance_groups", [GROUP] * 6),
        ("cluster/instance_groups/0/instance_group_name", "a b"),
        ("cluster/instance_groups/0/instance_group_name", "a" * 65),
        ("cluster/instance_groups/0/instance_type", "c5.9xlarge"),
        ("cluster/instance_groups/0/instance_count", 0),
        ("cluster/instance_groups/0/instance_count", 10_001),
        ("cluster/instance_groups/0/instance_count", None),
        ("cluster/instance_groups/0/instance_count", True),
        ("cluster/instance_groups/0/instance_count", "1"),
        ("cluster/instance_groups/0/role", "both"),
        ("cluster/instance_groups/0/self", 1),
        ("channels", [{"channel_name": "a b", "source": "x"}]),
        ("channels", [{"channel_name": "a", "source": ""}]),
        ("channels", [{"channel_name": f"c{n}", "source": "x"} for n in range(21)]),
        ("hyperparameters", {f"h{n}": 1 for n in range(101)}),
        ("environment", {f"V{n}": "" for n in range(101)}),
        ("environment", {"A": 1}),
        ("compiler_config/enabled", None),
        ("compiler_config/backend", "tvm"),
        ("emulation/cores_per_vcpu", 0),
        ("emulation/device_step_time_s", -1),
        ("emulation/relative_cpu_speed", {"c5": 101}),
        ("seed", -1),
        ("seed", 2**63),
        ("max_steps", 0),
        ("max_runtime_s", 0),
        ("max_runtime_s", 28 * 24 * 3600 + 1),
        ("num_loader_workers", -1),
        ("num_data_workers", 0),
    ],
)
def test_schema_and_spec_refuse_the_same(path: str, value: object) -> None:
    wrong = changed(path, value)

    assert SCHEMA.is_valid(LEGAL)
    assert not SCHEMA.is_valid(wrong)
    with pytest.raises(SpecError):
        TrainingJob.from_json(json.dumps(wrong))
    with pytest.raises(SpecError):
        TrainingJob.model_validate(wrong)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "1",
        '"job"',
        "[" * 9999,
        b"\xff",
        "{}",
        '{"a":NaN}',
        '{"self":{}}',
    ],
)
def test_a_text_that_is_no_job_is_refused(text: str | bytes) -> None:
    with pytest.raises(SpecError, match="TrainingJob") as refused:
        TrainingJob.from_json(text)

    assert max(map(len, refused.value.problems)) < 300


def test_a_refused_value_is_shown_short() -> None:
    with pytest.raises(SpecError) as refused:
        TrainingJob(entry_point="train.py", cluster=Cluster.parse("a=local"), seed="x" * 10_000)

    assert len(str(refused.value)) < 200


@given(json_values)
@settings(max_examples=60, deadline=None)
def test_any_json_is_read_or_refused(value: object) -> None:
    with pytest.raises(SpecError):
        TrainingJob.from_json(json.dumps(value))
