from __future__ import annotations

from itertools import pairwise

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import compiler_jobs, set_ups

HERE = "here=local:1"


def job(cluster: str = HERE, **fields: object) -> TrainingJob:
    return TrainingJob(entry_point="train.py", cluster=Cluster.parse(cluster), **fields)


def test_equal_set_ups_differ_in_the_backend_only() -> None:
    shared = TrainingCompilerConfig(precision="medium", debug=True, fallback="eager")

    found = set_ups(["eager", "inductor", "xla"], shared, ablation=False)

    assert [item.label for item in found] == ["eager", "inductor", "xla"]
    for item in found:
        assert item.config == shared.model_copy(update={"backend": item.label})


def test_what_only_inductor_has_stays_with_inductor_and_auto() -> None:
    shared = TrainingCompilerConfig(mode="max-autotune", per_block=True)

    found = set_ups(["eager", "inductor", "auto"], shared, ablation=False)

    assert [item.config.mode for item in found] == ["default", "max-autotune", "max-autotune"]
    assert [item.config.per_block for item in found] == [None, True, True]
    assert [item.label for item in found] == [
        "eager",
        "inductor, max-autotune, per block",
        "auto, max-autotune, per block",
    ]


def test_an_ablation_adds_one_factor_at_a_time() -> None:
    found = set_ups(
        ["eager", "inductor", "xla"], TrainingCompilerConfig(precision="bf16"), ablation=True
    )

    assert [item.label for item in found] == [
        "eager",
        "eager, kept memory",
        "eager, fused, kept memory",
        "eager, bf16, fused, kept memory",
        "inductor, bf16, fused, kept memory",
        "xla, bf16, fused, kept memory",
    ]
    last_eager = found[3].config.model_dump()
    for before, after in pairwise(found[:4]):
        assert differing(before.config.model_dump(), after.config.model_dump()) == 1
    for compiled in found[4:]:
        assert differing(last_eager, compiled.config.model_dump()) == 1


def differing(one: dict[str, object], other: dict[str, object]) -> int:
    return sum(one[name] != other[name] for name in one)


def test_an_ablation_leaves_out_factors_that_are_not_wanted() -> None:
    shared = TrainingCompilerConfig(keep_memory=False)

    found = set_ups(["inductor"], shared, ablation=True)

    assert [item.label for item in found] == [
        "eager",
        "eager, fused",
        "inductor, fused",
    ]


def test_whole_settings_are_taken_as_they_are_and_named_by_what_differs() -> None:
    given = [
        TrainingCompilerConfig(backend="eager", fused_optimizer=False),
        TrainingCompilerConfig(backend="eager"),
        TrainingCompilerConfig(backend="inductor", dynamic=True),
        TrainingCompilerConfig(enabled=False),
    ]

    found = set_ups(given, None, ablation=False)

    assert [item.config for item in found] == given
    assert [item.label for item in found] == [
        "eager",
        "eager, fused",
        "inductor, fused, any shape",
        "as it is",
    ]


@pytest.mark.parametrize(
    ("backends", "config", "message"),
    [
        ([], None, "There is no compiler backend to compare"),
        (["eager", "xla", "eager"], None, "'eager' is given 2 times"),
        (["eager", "openxla"], None, "openxla"),
        (["eager", TrainingCompilerConfig()], None, "without names of backends"),
        ([TrainingCompilerConfig()], TrainingCompilerConfig(), "Give settings only"),
    ],
)
def test_set_ups_that_make_no_comparison_are_refused(
    backends: list[str | TrainingCompilerConfig],
    config: TrainingCompilerConfig | None,
    message: str,
) -> None:
    with pytest.raises(SpecError, match=message):
        set_ups(backends, config, ablation=False)


def test_every_cluster_runs_under_every_compiler_and_labels_name_both() -> None:
    jobs = [job("alone@a=local:1"), job("fed@a=local:1:train,b=local:1:data")]

    made = compiler_jobs(jobs, set_ups(["eager", "inductor"], None, ablation=False))

    assert [item.cluster.label for item in made] == [
        "alone, eager",
        "alone, inductor",
        "fed, eager",
        "fed, inductor",
    ]
    assert [str(item.cluster) for item in made[::2]] == [str(item.cluster) for item in jobs]


def test_one_cluster_is_named_by_the_compiler_alone() -> None:
    made = compiler_jobs([job()], set_ups(["eager", "xla"], None, ablation=False))

    assert [item.cluster.label for item in made] == ["eager", "xla"]


def test_a_declared_step_time_that_no_compiler_can_change_is_refused() -> None:
    emulated = job(emulation=Emulation(device_step_time_s=0.04))

    with pytest.raises(SpecError, match=r"declared step time of 0\.04 s.*Leave it out"):
        compiler_jobs([emulated], set_ups(["eager"], None, ablation=False))
