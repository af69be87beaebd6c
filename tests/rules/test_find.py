from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.metrics.compared.ablation import FactorEffect
from smtc_lab.metrics.records.compiler_report import (
    CompileTime,
    GraphBreak,
    HostOperator,
    HostSync,
    Place,
    Recompilation,
)
from smtc_lab.metrics.result import Interval
from smtc_lab.rules.find import find
from tests.kit.compilers import (
    INDUCTOR,
    PLAIN,
    XLA,
    compiled_run,
    compiler_report,
    example_compilers,
)

if TYPE_CHECKING:
    from smtc_lab.metrics.finding import Cost, Finding
    from smtc_lab.metrics.records.records import RunRecords
    from smtc_lab.spec.compiler import TrainingCompilerConfig

LINE = Place(file="train.py", line=42, code="total += loss.item()")


def seen(
    config: TrainingCompilerConfig = INDUCTOR,
    *,
    run: dict[str, Any] | None = None,
    **report: Any,
) -> RunRecords:
    """Return a run of 60 steps of 0.1 s whose report has these fields."""
    return compiled_run(
        config,
        name="it",
        step_time_s=0.1,
        overhead_s=0.0,
        report=compiler_report(config, **report),
        **(run or {}),
    )


def only(run: RunRecords, **known: Any) -> Finding:
    (finding,) = find(run, **known)
    return finding


def cost(finding: Finding) -> Cost:
    assert finding.cost is not None
    return finding.cost


def test_a_quiet_report_has_no_finding() -> None:
    assert find(seen()) == ()


def test_a_run_without_a_compiler_has_no_finding_but_its_data_wait() -> None:
    run = compiled_run(None, name="plain", step_time_s=0.1)
    waiting = compiled_run(None, name="plain", step_time_s=0.1, data_wait_fraction=0.8)

    assert find(run) == ()
    assert only(waiting).kind == "data_wait"


@pytest.mark.parametrize(
    ("cause", "kind", "fix"),
    [
        ("x.size(1): 36 -> 41", "padding", "padding='max_length'"),
        ("x.size(0): 32 -> 7", "batch_shape", "drop_last=True"),
        ("scale is not 2 any more", "recompilation", "pass numbers that change as tensors"),
    ],
)
def test_a_recompilation_is_told_with_its_cause_and_cost(
    cause: str, kind: str, fix: str
) -> None:
    recompilations = tuple(
        Recompilation(cause=cause, step=step, seconds=0.6, place=LINE) for step in (7, 9)
    )

    finding = only(seen(recompilations=recompilations))

    assert (finding.kind, finding.place) == (kind, LINE)
    assert f"2 times: {cause}." in finding.sentence
    assert fix in finding.fix
    assert cost(finding).fraction == pytest.approx(1.2 / 6, rel=0.02)
    assert cost(finding).evidence == "measured"


def test_batches_of_several_sizes_are_a_note_where_nothing_was_compiled_again() -> None:
    run, eager = seen(), seen(PLAIN, fused_optimizer=None)
    for each in (run, eager):
        (steps,) = each.steps.values()
        steps[-1] = replace(steps[-1], num_samples=7)

    finding = only(run)

    assert finding.severity == "note"
    assert finding.sentence.startswith("1 of 60 steps had another number of samples than 32")
    assert find(eager) == ()


def test_a_sync_of_every_step_costs_on_an_accelerator_and_not_on_a_cpu() -> None:
    syncs = (HostSync(operation="item", place=LINE, per_step=1.0),)

    here = only(seen(host_syncs=syncs))
    there = only(seen(XLA, host_syncs=syncs, device="xla:TPU"))

    assert (here.severity, cost(here).fraction) == ("note", 0.0)
    assert (there.severity, cost(there).fraction) == ("warning", None)
    assert here.place == there.place == LINE


def test_a_sync_of_the_log_is_no_finding() -> None:
    assert find(seen(host_syncs=(HostSync(operation="item", place=LINE, per_step=0.1),))) == ()


def test_an_operator_of_the_host_is_named() -> None:
    operators = (HostOperator(operator="aten::nonzero", per_step=2.0),)

    finding = only(seen(XLA, host_operators=operators))

    assert "no aten::nonzero: the host runs it 2 times a step" in finding.sentence
    assert cost(finding).fraction is None


def test_a_graph_break_is_told_with_its_line() -> None:
    finding = only(seen(graph_breaks=(GraphBreak(reason="call of print.", place=LINE),)))

    assert (finding.kind, finding.place) == ("graph_break", LINE)
    assert "(call of print)" in finding.sentence


def test_a_fallback_costs_the_time_of_trying() -> None:
    finding = only(
        seen(
            backend="eager",
            fell_back_because="train.py:3 cannot be captured.",
            compile_time=CompileTime(total_s=3.0, compilations=1),
        )
    )

    assert finding.sentence == "It ran eagerly: train.py:3 cannot be captured."
    assert cost(finding).fraction == pytest.approx(0.5, rel=0.02)


def effect(low: float, mean: float, high: float) -> FactorEffect:
    return FactorEffect(
        factor="fused_optimizer",
        before="off",
        after="on",
        first="plain",
        second="fused",
        speedup=Interval(mean=mean, low=low, high=high),
    )


def test_an_optimizer_that_is_not_fused_costs_what_the_ablation_measured() -> None:
    plain = seen(PLAIN)

    measured = only(plain, factors=(effect(1.2, 1.25, 1.3),))

    assert only(plain).severity == "note"
    assert measured.severity == "warning"
    assert cost(measured).fraction == pytest.approx(0.2)
    assert find(plain, factors=(effect(0.9, 1.0, 1.1),)) == ()


def test_an_optimizer_that_cannot_be_fused_is_told() -> None:
    assert "torch has no fused kernel" in only(seen(fused_optimizer=False)).sentence


def test_a_data_wait_bounds_what_a_compiler_can_bring() -> None:
    finding = only(seen(run={"data_wait_fraction": 0.8}))

    assert "80 % of each step" in finding.sentence
    assert "more than 1.2 times as fast" in finding.sentence
    lost_s = cost(finding).s_per_step
    assert lost_s is not None
    assert lost_s.mean == pytest.approx(0.08, rel=0.02)
    assert lost_s.low < lost_s.mean < lost_s.high


def test_a_cost_in_time_is_one_in_money_where_the_price_is_known() -> None:
    run = seen(run={"data_wait_fraction": 0.8})
    (finding,), (priced,) = find(run), find(run, usd_per_hour=3.6)

    lost_s, usd = cost(priced).s_per_step, cost(priced).usd_per_1000_steps
    assert lost_s == cost(finding).s_per_step
    assert cost(finding).usd_per_1000_steps is None
    assert lost_s is not None
    assert usd is not None
    assert (usd.mean, usd.high) == pytest.approx((lost_s.mean, lost_s.high))


def test_a_line_is_of_the_first_of_several_trainers() -> None:
    syncs = (HostSync(operation="item", place=LINE, per_step=1.0),)
    run = seen(host_syncs=syncs)
    (report,) = run.compiler.values()
    both = replace(run, compiler={"algo-1-rank0": report, "algo-2-rank1": report})

    assert only(run).rank is None
    assert only(both).rank == "algo-1-rank0"


def test_a_step_of_starting_kernels_has_too_small_a_batch() -> None:
    finding = only(seen(kernels=10_000))

    assert finding.kind == "small_batch"
    assert cost(finding).evidence == "estimated"
    assert find(seen(kernels=100)) == ()


def test_overhead_that_a_job_does_not_earn_back_is_told() -> None:
    comparison, runs = example_compilers()
    inductor = comparison.clusters[2]
    run = next(run for run in runs if run.label == "inductor")

    findings = find(run, compiler=inductor.compiler, factors=comparison.factors)

    (overhead,) = (finding for finding in findings if finding.kind == "overhead")
    assert "This job of 60 steps ends before step 16" in overhead.sentence
    assert cost(overhead).fraction == pytest.approx(8 / (8 + 60 * 0.154), rel=0.03)


def test_warnings_come_first_and_the_costliest_first_among_them() -> None:
    run = seen(
        run={"data_wait_fraction": 0.5},
        recompilations=(Recompilation(cause="x.size(1): 3 -> 4", step=1, seconds=0.1),),
        graph_breaks=(GraphBreak(reason="print", place=None),),
        host_syncs=(HostSync(operation="item", place=LINE, per_step=1.0),),
    )

    kinds = [finding.kind for finding in find(run)]

    assert kinds == ["data_wait", "padding", "graph_break", "host_sync"]
