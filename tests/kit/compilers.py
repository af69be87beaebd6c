"""Builders of comparisons of compilers, with the records of the runs behind them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.parity import judge
from smtc_lab.metrics.parity_trace import ParityTrace
from smtc_lab.metrics.records.compiler_report import (
    CompilerReport,
    CompileTime,
    GraphBreak,
    HostSync,
    Place,
    Probe,
    Recompilation,
)
from smtc_lab.spec.compiler import TrainingCompilerConfig
from tests.kit.records import run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords

PLAIN = TrainingCompilerConfig(backend="eager", fused_optimizer=False, keep_memory=False)
"""Eager as every script is without us."""

FUSED = TrainingCompilerConfig(backend="eager", keep_memory=False)
"""Eager with the fused optimizer."""

INDUCTOR = TrainingCompilerConfig(backend="inductor", keep_memory=False)
"""Inductor with the fused optimizer."""

XLA = TrainingCompilerConfig(backend="xla", keep_memory=False)
"""XLA with the fused optimizer."""


def compiler_report(
    config: TrainingCompilerConfig = INDUCTOR,
    **fields: Any,  # noqa: ANN401  any field of a CompilerReport
) -> CompilerReport:
    """Return the report of a compiler that found nothing wrong, with these fields changed."""
    known = {
        "config": config,
        "backend": config.backend,
        "device": "cpu",
        "fused_optimizer": config.fused_optimizer,
        "peak_memory_bytes": 900 * 2**20,
        "compile_time": (
            None if config.backend == "eager" else CompileTime(total_s=0.0, compilations=1)
        ),
        **fields,
    }
    return CompilerReport(**known)


def troubled_report() -> CompilerReport:
    """Return the report of a compiler that found everything that there is to find."""
    loss = Place(file="train.py", line=42, code="total += loss.item()")
    call = Place(file="train.py", line=31, code="print(hidden.shape)")
    return compiler_report(
        compile_time=CompileTime(
            capture_s=1.4, lowering_s=2.1, code_generation_s=6.3, total_s=9.8, compilations=4
        ),
        graphs=3,
        graph_breaks=(GraphBreak(reason="call of print", place=call, count=2),),
        recompilations=(
            Recompilation(cause="x.size(1): 36 -> 41", step=7, seconds=2.4, place=call),
        ),
        host_syncs=(HostSync(operation="item", place=loss, per_step=1.0),),
        observed_steps=4,
        operators=412,
        kernels=131,
        fused_kernels=58,
        cache_hits=3,
        cache_misses=1,
        peak_memory_bytes=1100 * 2**20,
        debug_folder="output/data/compiler",
        notes=("Tied weights were restored.",),
    )


def compiled_run(  # noqa: PLR0913  a test names what matters to it
    config: TrainingCompilerConfig | None,
    *,
    name: str,
    step_time_s: float,
    overhead_s: float = 0.5,
    steps: int = 60,
    number: int = 0,
    report: CompilerReport | None = None,
    **example: Any,  # noqa: ANN401  any field of an ExampleRun
) -> RunRecords:
    """Return a launch whose first step takes ``overhead_s`` longer than the others.

    Args:
        config: Compiler settings of its job; None: none.
        name: Label of the set-up.
        step_time_s: Mean steady step time in seconds; it scatters by 2 %.
        overhead_s: Seconds that the first step takes beyond.
        steps: Steps of the launch.
        number: Number of the launch, from 0; also the seed of its scatter.
        report: What its trainer told; None: a quiet report, where there is a configuration.
        example: Fields of ``ExampleRun``.
    """
    rng = np.random.default_rng([number, *name.encode()])
    times_s = step_time_s * (1 + 0.02 * rng.standard_normal(steps))
    times_s[0] += overhead_s
    run = run_records(
        times_s.tolist(),
        **{
            "cluster": f"{name}@this=local",
            "job_name": f"{name.replace(' ', '-').replace(',', '')}-r{number + 1}",
            "cpu_quota_cores": None,
            "data_wait_fraction": 0.02,
            **example,
        },
    )
    if config is None:
        return run
    return replace(
        run,
        job=run.job.model_copy(update={"compiler_config": config}),
        compiler={"algo-1-rank0": report or compiler_report(config)},
    )


def parity_trace(*, steps: int = 8, difference: float = 0.0) -> ParityTrace:
    """Return the trace of a model of two parameters, off by a relative difference."""
    losses = np.linspace(2.0, 1.0, steps) * (1 + difference)
    norms = np.linspace([3.0, 4.0], [3.5, 4.5], steps) * (1 + difference)
    weights = {
        "layer.weight": np.full((4, 3), 0.5, dtype=np.float32) * np.float32(1 + difference),
        "layer.bias": np.full(4, 0.25, dtype=np.float32) * np.float32(1 + difference),
    }
    return ParityTrace(losses=losses, names=tuple(weights), norms=norms, weights=weights)


def example_compilers(rounds: int = 3) -> tuple[Comparison, list[RunRecords]]:
    """Return a comparison of eager, eager with fused optimizer, inductor and XLA.

    Inductor is 1.3 times as fast as plain eager after 8 s of compiling, XLA is slower.
    """
    probe = Probe(
        backend="inductor", compile_s=8.1, step_time_s=0.154, steps=5, predicted_job_s=17.3
    )
    setups = (
        ("eager", PLAIN, 0.2, 0.3, None),
        ("eager, fused optimizer", FUSED, 0.17, 0.3, None),
        (
            "inductor",
            INDUCTOR,
            0.154,
            8.0,
            troubled_report().model_copy(
                update={
                    "probes": (probe,),
                    "chosen_because": "Inductor ends this job first.",
                    "probe_s": 1.2,
                }
            ),
        ),
        ("xla", XLA, 0.31, 5.0, compiler_report(XLA, device="xla:CPU")),
    )
    runs = [
        compiled_run(
            config,
            name=name,
            step_time_s=time_s,
            overhead_s=overhead_s,
            number=number,
            report=report,
        )
        for number in range(rounds)
        for name, config, time_s, overhead_s, report in setups
    ]
    eager, noise = parity_trace(), parity_trace(difference=1e-7)
    parity = {
        "inductor": judge(parity_trace(difference=2e-7), eager=eager, noise=noise),
        "xla": judge(parity_trace(difference=1e-2), eager=eager, noise=noise),
    }
    comparison = compare_runs(
        runs,
        catalog=Catalog.load(),
        created="2026-11-03T10:15:00+00:00",
        machine={"cpu": "AMD EPYC 7R13", "cores": 2.0},
        parity=parity,
    )
    return comparison, runs
