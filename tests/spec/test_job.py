from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import MAX_RUNTIME_S, TrainingJob

CLUSTER = Cluster.parse("dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1")


def job(**values: Any) -> TrainingJob:
    return TrainingJob(**{"entry_point": "train.py", "cluster": CLUSTER, **values})


def refusal(**values: Any) -> list[str]:
    with pytest.raises(SpecError) as refused:
        job(**values)
    return refused.value.problems


def test_a_job_needs_a_script_and_a_cluster() -> None:
    with pytest.raises(SpecError) as refused:
        TrainingJob()

    assert refused.value.problems == [
        "TrainingJob.entry_point is missing. Give it a value.",
        "TrainingJob.cluster is missing. Give it a value.",
    ]


def test_a_job_runs_eagerly_and_on_real_hardware_unless_told_otherwise() -> None:
    assert job().compiler_config is None
    assert job().emulation is None
    assert job().seed == 0


def test_problems_of_all_parts_are_told_at_once() -> None:
    problems = refusal(
        entry_point="train.sh",
        cluster={"instance_groups": [{"instance_group_name": "a", "instance_type": "big"}]},
        channels=[{"channel_name": "a b", "source": ""}, {"channel_name": "x"}],
        emulation={"cores_per_vcpu": 0},
        seed=-1,
        max_steps=0,
        epochs=3,
    )

    told = "\n".join(problems)
    for words in (
        "'train.sh' is not the path of a Python file",
        "'big' is not of the form",
        "Channel name 'a b'",
        "Channel source ''",
        "TrainingJob.channels.1.source is missing",
        "Emulation.cores_per_vcpu=0.0",
        "seed=-1",
        "max_steps=0",
        "TrainingJob.epochs=3 is not a field",
    ):
        assert words in told
    assert len(problems) == 9
    assert all("\n" not in problem for problem in problems)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("seed", True, "must be a whole number"),
        ("seed", 1.0, "must be a whole number"),
        ("seed", 2**63, "is outside 0 to"),
        ("max_steps", 0, "is outside 1 to"),
        ("max_steps", 10**12 + 1, "is outside 1 to"),
        ("num_data_workers", 0, "is outside 1 to"),
        ("num_loader_workers", -1, "is outside 0 to"),
        ("max_runtime_s", 0.0, "is outside 0 to"),
        ("max_runtime_s", MAX_RUNTIME_S + 1, "28 days"),
        ("max_runtime_s", float("nan"), "must be a finite number"),
        ("max_runtime_s", float("inf"), "must be a finite number"),
        ("max_runtime_s", True, "must be a number"),
        ("max_runtime_s", "60", "must be a number"),
        ("entry_point", "train", "ends in .py"),
        ("entry_point", "a\0.py", "holds a NUL"),
        ("entry_point", "\ud800.py", "is not Unicode text"),
        ("job_name", "", "is not 1 to 63"),
        ("job_name", "a" * 64, "is not 1 to 63"),
        ("job_name", "a" + "-" * 70 + "b", "is not 1 to 63"),
        ("job_name", "a-", "is not 1 to 63"),
        ("job_name", "../../etc", "is not 1 to 63"),
        ("job_name", "a\n", "is not 1 to 63"),
        ("channels", "train", "must be a list"),
        ("cluster", None, "TrainingJob.cluster=None"),
        ("arguments", ["--a", "x\0"], "holds a NUL"),
        ("arguments", ["a"] * 1001, "has 1001 arguments"),
        ("arguments", [1], "must be text"),
        ("hyperparameters", {"a": float("nan")}, "must be a finite number"),
        ("hyperparameters", {"a": object()}, "not a valid JSON value"),
        ("hyperparameters", {"a": (1, 2)}, "not a valid JSON value"),
        ("hyperparameters", {"a b": 1}, "Hyperparameter name 'a b'"),
        ("hyperparameters", {"--a": 1}, "Hyperparameter name '--a'"),
        ("hyperparameters", {"a": "x\0"}, "holds a NUL"),
        ("hyperparameters", {"a": [{"\ud800": 1}]}, "is not Unicode text"),
        ("hyperparameters", {f"h{n}": n for n in range(101)}, "has 101 hyperparameters"),
        ("environment", {f"V{n}": "" for n in range(101)}, "has 101 environment variables"),
        ("environment", {"A=B": "x"}, "Environment variable 'A=B'"),
        ("environment", {"A\n": "x"}, "Environment variable 'A\\n'"),
        ("environment", {"A": "x\0"}, "holds a NUL"),
        ("environment", {"SM_HOSTS": "x"}, "is set by the launcher itself"),
        ("environment", {"RANK": "x"}, "is set by the launcher itself"),
        ("environment", {"A": 1}, "must be text"),
    ],
)
def test_a_value_out_of_bounds_is_refused(field: str, value: object, words: str) -> None:
    (problem,) = refusal(**{field: value})

    assert words in problem


def test_bounds_themselves_are_legal() -> None:
    kept = job(
        seed=2**63 - 1,
        max_steps=1,
        num_loader_workers=0,
        num_data_workers=1,
        max_runtime_s=MAX_RUNTIME_S,
        job_name="a" * 63,
        environment={f"V{n}": "" for n in range(100)},
        hyperparameters={f"h{n}": n for n in range(100)},
    )

    assert kept.max_runtime_s == MAX_RUNTIME_S


def test_a_hyperparameter_that_contains_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless

    assert "cyclic reference" in refusal(hyperparameters={"a": endless})[0]


def test_a_hyperparameter_that_is_nested_too_deeply_is_refused() -> None:
    for levels in (150, 3000):
        deep: list[Any] = []
        for _ in range(levels):
            deep = [deep]

        (problem,) = refusal(hyperparameters={"a": deep})

        assert len(problem) < 500


def test_the_callers_dict_can_change_without_changing_the_job() -> None:
    values = {"lr": 0.1}
    made = job(hyperparameters=values)

    values["lr"] = 9.0

    assert made.hyperparameters == {"lr": 0.1}


def channel(name: str, *groups: str) -> Channel:
    return Channel(channel_name=name, source="data", instance_group_names=groups)


def test_a_channel_name_is_used_once() -> None:
    assert "Channel name 'a' is used 2 times" in refusal(channels=[channel("a")] * 2)[0]


def test_a_channel_goes_to_a_group_of_the_job() -> None:
    (problem,) = refusal(channels=[channel("a", "data_group", "gpu_group")])

    assert "'gpu_group'" in problem
    assert "Choose among data_group, dnn_group" in problem


def test_all_channels_name_groups_or_none_does() -> None:
    problems = refusal(channels=[channel("a", "data_group"), channel("b")])

    assert "Only 1 of 2 channels name instance groups" in problems[0]


def test_twenty_channels_are_legal_and_one_more_is_not() -> None:
    channels = [channel(f"c{number}") for number in range(21)]

    assert len(job(channels=channels[:20]).channels) == 20
    assert "has 21 channels, but may have 20" in refusal(channels=channels)[0]


@pytest.mark.parametrize("name", ["", "a" * 65, "a/b", "..", "a b", "\u00e9"])
def test_hostile_channel_names_are_refused(name: str) -> None:
    with pytest.raises(SpecError, match=r"Channel name .* is not 1 to 64"):
        channel(name)


@pytest.mark.parametrize("source", ["", "  "])
def test_a_channel_has_a_source(source: str) -> None:
    with pytest.raises(SpecError, match=r"Channel source .* is empty. Give"):
        Channel(channel_name="a", source=source)


def test_the_compiler_takes_sagemakers_arguments_by_position() -> None:
    assert TrainingCompilerConfig(True, True).debug
    assert TrainingCompilerConfig().enabled


@pytest.mark.parametrize("value", [1, "true", None])
def test_compiler_switches_are_never_converted(value: object) -> None:
    with pytest.raises(SpecError, match=r"enabled=.* must be true or false"):
        TrainingCompilerConfig(enabled=value)  # type: ignore[arg-type]


def test_an_unknown_compiler_backend_names_the_known_ones() -> None:
    with pytest.raises(SpecError, match=r"backend='tvm' does not fit.*'inductor'.*'eager'"):
        TrainingCompilerConfig(backend="tvm")  # type: ignore[arg-type]


def test_an_unknown_working_dir_names_the_known_ones() -> None:
    with pytest.raises(SpecError, match=r"working_dir='out' does not fit.*'own' or 'here'"):
        job(working_dir="out")


@pytest.mark.parametrize("seconds", [0, -1.0, 86_401])
def test_a_compile_time_limit_is_above_0_and_at_most_a_day(seconds: float) -> None:
    with pytest.raises(SpecError, match=r"timeout_s=.* is outside 0 to 86400 seconds"):
        TrainingCompilerConfig(timeout_s=seconds)


@pytest.mark.parametrize("field", ["cores_per_vcpu", "device_step_time_s"])
@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True])
def test_an_emulation_needs_a_scale_above_0(field: str, value: float) -> None:
    with pytest.raises(SpecError, match=rf"Emulation\.{field}=.* must be"):
        Emulation(**{field: value})


@pytest.mark.parametrize("speed", [0.0, 0.009, 101.0])
def test_a_relative_cpu_speed_out_of_bounds_is_refused(speed: float) -> None:
    with pytest.raises(SpecError, match=r"relative_cpu_speed=\{'c5': .*outside 0.01 to 100"):
        Emulation(relative_cpu_speed={"c5": speed})
