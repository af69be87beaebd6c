from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.parity import unjudged
from tests.kit.compilers import (
    FUSED,
    INDUCTOR,
    PLAIN,
    compiled_run,
    compiler_report,
    example_compilers,
)
from tests.kit.records import interleaved_runs

if TYPE_CHECKING:
    from smtc_lab.metrics.parity import ParityResult
    from smtc_lab.metrics.records.records import RunRecords


@pytest.fixture(scope="module")
def example() -> Comparison:
    return example_compilers()[0]


def compared(runs: list[RunRecords], **parity: ParityResult) -> Comparison:
    return compare_runs(
        runs,
        catalog=Catalog.load(),
        created="2026-11-03T10:15:00+00:00",
        machine={},
        parity=parity,
    )


def test_a_verdict_names_compilers_and_when_they_pay(example: Comparison) -> None:
    assert "inductor is 1.30" in example.verdict
    assert "than eager and has earned its overhead back after 16" in example.verdict
    assert "cost" not in example.verdict
    assert "xla is 1.5" in example.verdict


def test_every_set_up_has_its_compiler(example: Comparison) -> None:
    compilers = [cluster.compiler for cluster in example.clusters]

    assert [one.backend for one in compilers if one] == ["eager", "eager", "inductor", "xla"]
    assert compilers[0] is not None
    assert compilers[0].break_even is None
    assert compilers[2] is not None
    assert compilers[2].overhead_s.mean == pytest.approx(8.0, abs=0.05)
    assert compilers[2].cache_hit_fraction == pytest.approx(0.75)
    assert compilers[3] is not None
    assert compilers[3].break_even is not None
    assert compilers[3].break_even.is_slower


def test_a_comparison_of_compilers_survives_json(example: Comparison) -> None:
    assert Comparison.from_json(example.to_json()) == example


def test_a_comparison_without_compilers_has_none_and_old_json_is_read() -> None:
    plain = compared(interleaved_runs())
    wire = json.loads(plain.to_json())
    del wire["factors"]
    for cluster in wire["clusters"]:
        del cluster["compiler"]

    assert [cluster.compiler for cluster in plain.clusters] == [None, None]
    assert Comparison.from_json(json.dumps(wire)) == plain


def test_a_compiler_that_learns_something_else_is_warned_of_first(example: Comparison) -> None:
    assert example.warnings[0].startswith("xla does not learn what eager learns: differs from")


def test_several_settings_at_once_are_told_where_one_was_not_measured_alone() -> None:
    runs = [
        compiled_run(config, name=config.backend, step_time_s=time_s, number=number)
        for number in range(3)
        for config, time_s in ((PLAIN, 0.2), (INDUCTOR, 0.1))
    ]

    (warning,) = compared(runs).warnings

    assert warning.startswith(
        "inductor and eager differ in backend and fused optimizer at once"
    )


def test_an_ablation_needs_no_such_warning(example: Comparison) -> None:
    assert not [warning for warning in example.warnings if "at once" in warning]


def test_a_fallback_is_told() -> None:
    report = compiler_report(
        INDUCTOR, backend="eager", fell_back_because="train.py:3 changes its shape each step."
    )
    runs = [
        compiled_run(FUSED, name="eager", step_time_s=0.1),
        compiled_run(INDUCTOR, name="inductor", step_time_s=0.1, report=report),
    ]

    result = compared(runs, inductor=unjudged("its launch ended as Failed"))

    assert (
        "inductor ran eagerly, not with what was asked for: train.py:3 changes its shape each "
        "step."
    ) in result.warnings
    assert (
        "Whether inductor learns what eager learns was not judged: its launch ended as Failed."
    ) in result.warnings
    assert result.clusters[1].compiler is not None
    assert result.clusters[1].compiler.backends == ("eager",)


def test_a_lost_report_is_told() -> None:
    run = compiled_run(INDUCTOR, name="inductor", step_time_s=0.1)
    run.compiler.clear()

    result = compared([run])

    assert any("inductor left no report of its compiler" in text for text in result.warnings)
    assert result.clusters[0].compiler is not None
    assert result.clusters[0].compiler.backend == "inductor"


def test_a_compiler_that_compiled_nothing_is_told() -> None:
    report = compiler_report(INDUCTOR, compile_time=None)
    run = compiled_run(INDUCTOR, name="it", step_time_s=0.1, report=report)

    told = [text for text in compared([run]).warnings if "no compilation" in text]

    assert told[0].startswith("it names inductor as its backend, but tells of no compilation")


def test_different_settings_under_one_name_are_refused() -> None:
    runs = [compiled_run(config, name="same", step_time_s=0.1) for config in (PLAIN, INDUCTOR)]

    with pytest.raises(ValueError, match=r"Runs of 'same' have different compiler settings"):
        compared(runs)
