"""Emulated steps of known cost beside arithmetic, at several time dilations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.figure import BenchFigure, bench_figure
from notebooks.benchmarks.harness.table import text_table
from notebooks.benchmarks.truth.known_jobs import ALONE, KnownScript, arithmetic_s
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.study.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_FED = "fed@g=ml.p3.2xlarge:1,d=ml.c5.2xlarge:1"


@dataclass(frozen=True, kw_only=True)
class KnownCase:
    """A script of known cost on a cluster."""

    script: KnownScript
    """What is run."""

    cluster: str = ALONE
    """As ``Cluster.parse`` takes it."""


CASES = (
    KnownCase(
        script=KnownScript(
            name="in process", workers=0, cpu_ms=4.0, batch_size=2, device_s=0.005, steps=6
        )
    ),
    KnownCase(
        script=KnownScript(
            name="two workers", workers=2, cpu_ms=4.0, batch_size=2, device_s=0.005, steps=24
        )
    ),
    KnownCase(
        script=KnownScript(
            name="slow device", workers=2, cpu_ms=2.0, batch_size=2, device_s=0.020, steps=7
        )
    ),
    KnownCase(
        cluster=_FED,
        script=KnownScript(
            name="fed", workers=0, cpu_ms=4.0, batch_size=2, device_s=0.008, steps=12
        ),
    ),
    KnownCase(
        cluster=_FED,
        script=KnownScript(
            name="fed through a network",
            workers=0,
            cpu_ms=10.0,
            batch_size=4,
            device_s=0.002,
            sample_bytes=1_250_000,
            steps=14,
        ),
    ),
)
"""Each of them is bound by something else: a CPU, two, the device, the device, the network."""


def known_row(case: KnownCase, dilation: float | None, root: Path) -> dict[str, Any]:
    """Return what one launch took beside arithmetic; one in the folder is used again.

    Args:
        case: What is launched.
        dilation: Time dilation; None: the least that fits.
        root: Folder of the runs.

    Raises:
        RunFailedError: It failed.
    """
    script = case.script
    kept = root / f"{script.name}, {dilation or 0:g}.known.json"
    if kept.is_file():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    jobs = [script.job(case.cluster, dilation=dilation)]
    comparison = compare(jobs, rounds=1, root=root).comparison
    emulation, cluster = comparison.emulation or {}, comparison.clusters[0]
    speed = emulation["cpu_speed"] or 1.0
    row = {
        "what": "known",
        "script": script.name,
        "cluster": case.cluster,
        "dilation": emulation["time_dilation"],
        "cpu_speed": speed,
        "steps": cluster.steps,
        "measured_s": cluster.step_time_s.mean,
        "arithmetic_s": arithmetic_s(script, case.cluster, Catalog.load(), speed=speed),
        "delivered": cluster.cpu_delivered_fraction,
        "load_at_start": comparison.machine.get("load_at_start"),
    }
    kept.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    return row


def error_percent(row: Mapping[str, Any]) -> float:
    """Return (measured - arithmetic) / arithmetic of a kept row."""
    error: float = 100 * (row["measured_s"] / row["arithmetic_s"] - 1)
    return error


def known_figures(rows: Sequence[Mapping[str, Any]]) -> list[BenchFigure]:
    """Return how far the launches of kept rows are from arithmetic; nothing of no rows."""
    if not rows:
        return []
    errors = [abs(error_percent(row)) for row in rows]
    return [
        bench_figure(
            f"known cost, {len(rows)} launches, farthest from arithmetic",
            [max(errors)],
            unit="%",
            better="lower",
            goal=10,
        ),
        bench_figure("known cost, median error", errors, unit="%", better="lower"),
    ]


def known_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return one line for each launch."""
    titles = ("script", "time dilation", "measured", "arithmetic", "error")
    lines = [
        [
            row["script"],
            f"{row['dilation']:.1f}",
            f"{1e3 * row['measured_s']:.2f} ms",
            f"{1e3 * row['arithmetic_s']:.2f} ms",
            f"{error_percent(row):+.1f} %",
        ]
        for row in rows
    ]
    return text_table(titles, lines, names=1)
