"""Measure what this machine's GPU does within some minutes."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from notebooks.benchmarks.gpu.figures import gpu_figures
from notebooks.benchmarks.gpu.task import Task, as_argument
from notebooks.benchmarks.harness.fresh import measured
from smtc_lab.errors import RunFailedError
from smtc_lab.machine.cores import machine_facts, versions

FEEDING = "feeding"
_BOTH = ("eager", "inductor")
_CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
_DRY_S = 8.0
_END_S = 3.0
"""Seconds kept back for the end of a part's process, and for the results."""


def parts(rows_file: str, *, is_dry_run: bool) -> list[Task]:
    """Return what is measured, what matters most first.

    Args:
        rows_file: Where rows go.
        is_dry_run: Whether only the way is tried: on the CPU, with next to nothing to compute.
    """
    common: dict[str, Any] = {
        "size": "small" if is_dry_run else "full",
        "device": "cpu" if is_dry_run else "cuda",
        "ends_s": 0.0,
        "rows_file": rows_file,
    }
    texts: dict[str, Any] = {
        "batch_size": 2 if is_dry_run else 64,
        "backends": _BOTH[: 1 if is_dry_run else 2],
    }
    vision = "mnist_cnn" if is_dry_run else "resnet50"
    return [
        Task(part="bert", model="bert", **texts, **common),
        Task(part=FEEDING, model=vision, batch_size=64, backends=("eager",), **common),
        Task(part="gpt2", model="gpt2", **texts, **common),
        Task(part=vision, model=vision, batch_size=256, backends=_BOTH, **common),
    ]


@click.command()
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder of results."
)
@click.option("--seconds", default=300.0, show_default=True, help="Time for all parts.")
@click.option("--dry-run", is_flag=True, help="Try the way, on the CPU and with tiny models.")
def main(out: Path, seconds: float, dry_run: bool) -> None:  # noqa: FBT001  a flag of click's
    """Measure training on this machine's GPU; write OUT/gpu.json after each part.

    A part that fails, or takes too long, is told there, and the others are measured all the
    same. Ends with status 1 then.
    """
    end_s = time.monotonic() + seconds
    out.mkdir(parents=True, exist_ok=True)
    rows_file = out / "gpu_rows.jsonl"
    rows_file.unlink(missing_ok=True)
    tasks = parts(str(rows_file.resolve()), is_dry_run=dry_run)
    told: list[dict[str, Any]] = []
    for number, task in enumerate(tasks):
        left_s = end_s - time.monotonic()
        told.append(_measure(task, left_s, left_s / (len(tasks) - number)))
        write_results(out / "gpu.json", told, rows_file)
        click.echo(json.dumps(told[-1]), err=True)
    if any(part["error"] for part in told):
        raise SystemExit(1)


def _measure(task: Task, left_s: float, share_s: float) -> dict[str, Any]:
    """Measure a part; return what it took, what it ran on, and why it failed.

    Args:
        task: The part.
        left_s: Seconds that all parts still have. It may have all of them but half of what the
            others are to have: compilers take as long as they take.
        share_s: Seconds of them that are the part's.
    """
    began_s = time.monotonic()
    limit_s = (left_s + share_s) / 2 - _END_S
    module = "feeding" if task.part == FEEDING else "training"
    most_s = share_s - 2 * _END_S
    if task.device == "cpu":
        most_s = min(most_s, _DRY_S)
    task = replace(task, ends_s=time.time() + most_s)
    error = device = None
    try:
        words = ("-m", f"notebooks.benchmarks.gpu.{module}", as_argument(task))
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as caches:  # empty ones
            variables = {name: f"{caches}/{name}" for name in _CACHES}
            device = measured(
                task.part, *words, limit_s=max(0.1, limit_s), environment=variables
            )
    except (RunFailedError, ValueError, IndexError, OSError) as failed:
        error = f"{type(failed).__name__}: {failed}"
    took_s = time.monotonic() - began_s
    return {"part": task.part, "took_s": took_s, "device": device, "error": error}


def write_results(path: Path, told: list[dict[str, Any]], rows_file: Path) -> None:
    """Write machine, versions, parts, figures and raw rows as JSON, all or nothing.

    Args:
        path: The file.
        told: What each part took, ran on, and why it failed.
        rows_file: Rows so far; the last one may be torn.
    """
    rows = []
    if rows_file.is_file():
        lines = rows_file.read_text(encoding="utf-8").splitlines(keepends=True)
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
    result = {
        "machine": {**machine_facts(), "driver": _driver()},
        "versions": versions(),
        "parts": told,
        "figures": [asdict(figure) for figure in gpu_figures(rows)],
        "rows": rows,
    }
    scratch = path.with_suffix(".new")
    scratch.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    scratch.replace(path)


def _driver() -> str | None:
    """Return the GPU's name, driver and memory as the driver's own program tells them."""
    query = [
        "nvidia-smi",
        "--query-gpu=name,driver_version,memory.total",
        "--format=csv,noheader",
    ]
    try:
        ended = subprocess.run(query, capture_output=True, text=True, check=True, timeout=20)  # noqa: S603  no input
    except (OSError, subprocess.SubprocessError):
        return None
    return ended.stdout.strip()


if __name__ == "__main__":
    main()
