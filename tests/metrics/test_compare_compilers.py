from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

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
    from tests.kit.golden_texts import GoldenTexts

FEW = {"few_launches", "few_steps", "price"}


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


def one_run(**report: Any) -> RunRecords:
    told = compiler_report(INDUCTOR, **report)
    return compiled_run(INDUCTOR, name="inductor", step_time_s=0.1, report=told)


def test_what_must_be_known_of_compilers_is_told(
    example: Comparison, golden_texts: GoldenTexts
) -> None:
    eager = compiled_run(FUSED, name="eager", step_time_s=0.1)
    fell_back = compared(
        [eager, one_run(backend="eager", fell_back_because="train.py:3 changes its shape.")],
        inductor=unjudged("its launch ended as Failed"),
    )
    several = compared(
        [
            compiled_run(config, name=config.backend, step_time_s=time_s, number=number)
            for number in range(3)
            for config, time_s in ((PLAIN, 0.2), (INDUCTOR, 0.1))
        ]
    )
    unreported = compiled_run(INDUCTOR, name="inductor", step_time_s=0.1)
    unreported.compiler.clear()
    results = {
        "an ablation": example,
        "several settings at once": several,
        "a fallback, not judged": fell_back,
        "a lost report": compared([unreported]),
        "nothing compiled": compared([one_run(compile_time=None)]),
    }

    assert {
        case: [each.kind for each in result.findings if each.kind not in FEW]
        for case, result in results.items()
    } == {
        "an ablation": ["parity"],
        "several settings at once": ["unlike_settings"],
        "a fallback, not judged": ["fallback", "parity"],
        "a lost report": ["no_report"],
        "nothing compiled": ["no_compilation"],
    }
    assert example.findings[0].kind == "parity"
    assert fell_back.clusters[1].compiler is not None
    assert fell_back.clusters[1].compiler.backends == ("eager",)
    lost = results["a lost report"].clusters[0].compiler
    assert lost is not None
    assert lost.backend == "inductor"
    golden_texts(
        "compiler",
        {
            case: "\n".join([result.verdict, *result.warnings])
            for case, result in results.items()
        },
    )


def test_different_settings_under_one_name_are_refused() -> None:
    runs = [compiled_run(config, name="same", step_time_s=0.1) for config in (PLAIN, INDUCTOR)]

    with pytest.raises(ValueError, match=r"Runs of 'same' have different compiler settings"):
        compared(runs)
