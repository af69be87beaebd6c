from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smtc_lab.metrics.measured_columns import measured_columns
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.metrics.records.compiler_report import CompileTime, HostSync, Recompilation
from smtc_lab.rules.find import RunRules, find
from tests.kit.compilers import INDUCTOR, compiled_run, compiler_report
from tests.kit.records import jittered, run_records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from smtc_lab.metrics.finding import Finding
    from smtc_lab.metrics.records.records import RunRecords

WAITS = {"data_wait_fraction": 0.6, "cpu_used_fraction": 0.5}
STARVES = {"data_wait_fraction": 0.6, "cpu_used_fraction": 0.95, "device_time_s": 0.06}


def followed(
    run: RunRecords, ends: Sequence[int], *, has_ended: bool = False
) -> list[tuple[Finding, ...]]:
    """Return what is found in a run after so many of its steps, one look after the other."""
    whole = measured_launch(run)
    assert whole is not None
    rules = RunRules(run.job)
    return [
        rules.look(
            measured_columns(
                whole.recorded[:, :end],
                cluster=whole.cluster,
                samples=whole.samples,
                num_cores=whole.num_cores,
                probe_steps=0,
            ),
            run.compiler,
            has_ended=has_ended and end == ends[-1],
            has_completed=has_ended and end == ends[-1] and run.state == "Completed",
        )
        for end in ends
    ]


def kinds(found: tuple[Finding, ...]) -> set[str]:
    return {finding.kind for finding in found}


def troubled_run(num_steps: int, num_ranks: int, seed: int) -> RunRecords:
    """Return a run of which nearly every rule has to say something, sometimes."""
    rng = np.random.default_rng(seed)
    recompiled = Recompilation(cause="x.size(1): 3 -> 4", step=1, seconds=0.1)
    report = compiler_report(
        kernels=int(rng.integers(100_000)),
        fused_optimizer=bool(rng.integers(2)),
        fell_back_because="It broke." if rng.integers(2) else None,
        compile_time=CompileTime(total_s=2.0, compilations=1),
        recompilations=(recompiled,) * int(rng.integers(2)),
        host_syncs=(HostSync(operation="item", place=None, per_step=1.0),),
    )
    run = compiled_run(
        INDUCTOR,
        name="it",
        step_time_s=0.1,
        steps=num_steps,
        report=report,
        num_ranks=num_ranks,
        cpu_used_fraction=float(rng.uniform(0.7, 1.0)),
    )
    steps = {
        rank: [
            replace(
                record,
                step_time_s=record.step_time_s * float(rng.uniform(0.5, 1.0)),
                data_wait_s=record.step_time_s * float(rng.uniform(0.0, 0.5)),
                num_samples=int(rng.choice([32, 32, 16])),
                synchronized=bool(rng.uniform() < 0.99),
            )
            for record in records
        ]
        for rank, records in run.steps.items()
    }
    return replace(run, steps=steps)


@pytest.mark.parametrize("num_ranks", [1, 2, 8])
@given(
    num_steps=st.integers(1, 80),
    seed=st.integers(0, 2**32),
    looks=st.sets(st.integers(1, 80), max_size=8),
)
@settings(max_examples=25, deadline=None)
def test_at_the_end_findings_are_those_of_the_finished_run_however_it_came(
    num_ranks: int, num_steps: int, seed: int, looks: set[int]
) -> None:
    run = troubled_run(num_steps, num_ranks, seed)
    ends = [*sorted(end for end in looks if end < num_steps), num_steps]

    assert followed(run, ends, has_ended=True)[-1] == find(run)


def test_a_finding_comes_while_the_run_grows() -> None:
    run = run_records(jittered(0.2), **STARVES)

    early, late = followed(run, [10, 50])

    assert early == ()
    assert kinds(late) == {"cpu_bottleneck"}


def test_few_steps_say_something_only_when_there_will_be_no_more() -> None:
    run = run_records([0.2] * 20, **WAITS)

    assert followed(run, [20]) == [()]
    assert kinds(followed(run, [20], has_ended=True)[-1]) == {"data_wait"}
    assert find(replace(run, state="Failed")) == ()
    assert find(run_records([0.2] * 4, **WAITS)) == ()


def test_advice_about_compilers_is_for_those_who_asked_for_one() -> None:
    (plain,) = find(run_records([0.2] * 60, **WAITS))
    compiled = compiled_run(INDUCTOR, name="it", step_time_s=0.1, data_wait_fraction=0.6)

    assert plain.sentence == "The trainer waits for data in 60 % of each step."
    assert any("so no compiler can" in finding.sentence for finding in find(compiled))


def test_busy_cpus_are_told_from_five_seconds_on() -> None:
    run = run_records([0.05] * 160, **{**STARVES, "device_time_s": 0.02})

    early, late = followed(run, [80, 160])

    assert "cpu_bottleneck" not in kinds(early)
    assert "cpu_bottleneck" in kinds(late)


def waiting_run(share: Sequence[tuple[int, float]], **example: Any) -> RunRecords:
    """Return a run of which so many steps at a time wait for so much of their time."""
    fractions = [fraction for steps, fraction in share for _ in range(steps)]
    run = run_records([0.2] * len(fractions), **{**WAITS, **example})
    (records,) = run.steps.values()
    records[:] = [
        replace(record, data_wait_s=0.2 * fraction)
        for record, fraction in zip(records, fractions, strict=True)
    ]
    return run


def test_a_wait_about_the_threshold_does_not_come_and_go() -> None:
    run = waiting_run([(100, 0.203), (100, 0.19), (100, 0.203)])

    looks = followed(run, range(50, 300, 10))

    assert all(kinds(found) == {"data_wait"} for found in looks)
    assert len(set(looks)) > 1  # and yet the number moves


def test_a_wait_that_is_over_is_taken_back() -> None:
    run = waiting_run([(100, 0.21), (400, 0.1)])

    looks = followed(run, [100, 500])

    assert [kinds(found) for found in looks] == [{"data_wait"}, set()]


def test_at_the_end_what_was_told_before_does_not_count() -> None:
    run = waiting_run([(100, 0.21), (100, 0.18)])

    live, ended = followed(run, [100, 200]), followed(run, [100, 200], has_ended=True)

    assert kinds(live[-1]) == {"data_wait"}
    assert ended[-1] == find(run) == ()


def test_a_run_without_a_step_has_no_finding() -> None:
    run = run_records([])

    assert find(run) == ()


def test_a_script_that_ended_by_itself_is_told_with_its_steps() -> None:
    run = run_records(jittered(0.1))
    steps = sum(map(len, run.steps.values()))
    short = replace(run, job=run.job.model_copy(update={"max_steps": steps + 80}))
    stopped = replace(short, state="Stopped")

    (told,) = [each for each in find(short) if each.kind == "ended_early"]

    assert told.text.startswith(
        f"The run ended after {steps} of {steps + 80} steps: the script"
    )
    assert "ended_early" not in kinds(find(stopped))
    assert "ended_early" not in kinds(find(run))
