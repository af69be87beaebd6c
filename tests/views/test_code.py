from __future__ import annotations

from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import smtc_lab
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.distribution import Distribution
from smtc_lab.spec.emulation import EmulatedLink, Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.code.cells import (
    cluster_code,
    compare_code,
    compiler_code,
    job_code,
)

NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,12}", fullmatch=True)
TYPES = st.sampled_from(["local", "ml.c5.9xlarge", "ml.p3.2xlarge", "ml.p4d.24xlarge"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    roles = [None, *([draw(st.sampled_from([None, "train", "data"]))] * (len(names) - 1))]
    groups = [
        InstanceGroup(
            name,
            draw(TYPES),
            draw(st.integers(1, 10_000)),
            role=role,
            runs="script" if role == "data" and draw(st.booleans()) else None,
        )
        for name, role in zip(names, roles, strict=True)
    ]
    printable = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=64)
    return Cluster(instance_groups=tuple(groups), name=draw(st.none() | printable))


CONFIGS = st.builds(
    TrainingCompilerConfig,
    enabled=st.booleans(),
    debug=st.booleans(),
    backend=st.sampled_from(["auto", "inductor", "xla", "eager"]),
    precision=st.sampled_from(["highest", "high", "medium", "bf16"]),
    dynamic=st.none() | st.booleans(),
    fallback=st.sampled_from(["error", "eager"]),
    timeout_s=st.floats(0, 86400, exclude_min=True),
)
JOBS = st.builds(
    TrainingJob,
    entry_point=TEXTS.map(lambda text: f"{text}.py"),
    cluster=clusters(),
    hyperparameters=st.dictionaries(NAMES.map("x{}".format), VALUES, max_size=3),
    arguments=st.lists(TEXTS, max_size=3).map(tuple),
    channels=st.sampled_from([(), (Channel(channel_name="train", source="/data"),)]),
    environment=st.dictionaries(NAMES.map(lambda name: f"X{name.replace('-', '_')}"), TEXTS),
    python_environment=st.none() | st.sampled_from(["today", "torch-2.9"]),
    compiler_config=st.none() | CONFIGS,
    emulation=st.none()
    | st.builds(
        Emulation,
        device_step_time_s=st.none() | st.floats(0.01, 10),
        link=st.none() | st.builds(EmulatedLink, between_gbps=st.none() | st.floats(0.1, 400)),
        relative_cpu_speed=st.dictionaries(st.just("c5"), st.floats(0.1, 2)),
    ),
    distribution=st.none()
    | st.just("auto")
    | st.builds(
        Distribution,
        data=st.none() | st.integers(1, 8),
        shard=st.integers(1, 8),
    ),
    seed=st.integers(0, 2**63 - 1),
    max_steps=st.none() | st.integers(1, 10**9),
    num_loader_workers=st.none() | st.integers(0, 8),
)


def ran(code: str) -> dict[str, Any]:
    """Execute code of a form, without starting anything, and return its variables."""
    names: dict[str, Any] = {}
    lab = {
        "launch": lambda job: ("launched", job),
        "launch_comparison": lambda jobs, rounds: ("compared", jobs, rounds),
    }
    with mock.patch.multiple(smtc_lab, create=True, **lab):
        exec(code, names)  # noqa: S102  this is what the code is for
    return names


@given(clusters())
def test_the_code_of_a_cluster_gives_the_same_cluster(cluster: Cluster) -> None:
    assert ran(cluster_code(cluster))["cluster"] == cluster


@given(st.none() | CONFIGS)
def test_the_code_of_compiler_settings_gives_the_same_settings(
    config: TrainingCompilerConfig | None,
) -> None:
    assert ran(compiler_code(config))["config"] == config


@settings(max_examples=60)
@given(JOBS)
def test_the_code_of_a_job_launches_the_same_job(job: TrainingJob) -> None:
    assert ran(job_code(job))["run"] == ("launched", job)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(JOBS, min_size=1, max_size=3), st.integers(1, 9))
def test_the_code_of_a_comparison_compares_the_same_jobs(
    jobs: list[TrainingJob], rounds: int
) -> None:
    assert ran(compare_code(jobs, rounds))["comparison"] == ("compared", jobs, rounds)


def test_code_is_the_shortest_that_says_it() -> None:
    cluster = Cluster(instance_groups=(InstanceGroup("dnn", "ml.p3.2xlarge", 1),))

    assert cluster_code(cluster) == (
        "import smtc_lab as lab\n\n"
        'cluster = lab.Cluster(instance_groups=[lab.InstanceGroup("dnn", "ml.p3.2xlarge")])\n'
    )


def test_code_that_is_long_has_one_part_a_line() -> None:
    groups = (
        InstanceGroup("dnn_group", "ml.p3.2xlarge"),
        InstanceGroup("data_group", "ml.c5.9xlarge", 2, role="data"),
    )

    assert cluster_code(Cluster(instance_groups=groups, name="fed")) == (
        "import smtc_lab as lab\n\n"
        "cluster = lab.Cluster(\n"
        "    instance_groups=[\n"
        '        lab.InstanceGroup("dnn_group", "ml.p3.2xlarge"),\n'
        '        lab.InstanceGroup("data_group", "ml.c5.9xlarge", 2, role="data"),\n'
        "    ],\n"
        '    name="fed",\n'
        ")\n"
    )


def test_jobs_that_differ_in_the_cluster_only_share_the_rest_of_their_code() -> None:
    cluster = Cluster(instance_groups=(InstanceGroup("a", "ml.p3.2xlarge"),))
    jobs = [
        TrainingJob(entry_point="train.py", cluster=each, max_steps=200)
        for each in (cluster, cluster.model_copy(update={"name": "other"}))
    ]

    assert compare_code(jobs, 3).count("lab.TrainingJob(") == 1
