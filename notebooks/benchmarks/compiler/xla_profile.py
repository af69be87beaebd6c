"""Where a training step under XLA on CPU spends its time, kind by kind, beside eager."""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from notebooks.benchmarks.harness.fresh import measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEPS = 12

_KINDS = (
    ("convolution", r"= \S+ convolution\(|^aten::\w*conv|mkldnn_conv"),
    ("matrix product", r"= \S+ dot\(|addmm|aten::mm$|aten::bmm$"),
    ("pooling", r"reduce-window\(.*iota|^iota|^wrapped_scatter|max_pool"),
    ("random numbers", r"= u32\[|bernoulli"),
    ("transposes and copies", r"^transpose_copy|= \S+ (copy|transpose)\(|aten::copy_$"),
)
"""Kinds of work, with what tells them: in HLO the name and what follows, else torch's name."""

_OTHER = "element by element, sums"
_HOST = "host: tracing, dispatch"


def xla_profile(model: str, *, core: int | None = None) -> list[dict[str, Any]]:
    """Return what each kind of work takes, of one step of a model.

    Totals are CPU time of one thread, measured. How it is split among kinds is estimated: by
    the shortest run of each kernel in XLA's trace, and by torch's profiler for eager.

    Args:
        model: A name in ``notebooks.benchmarks.networks.models.VISION_MODELS``.
        core: The core to run on; None: any.

    Returns:
        A row for each kind and a last one, ``total``: ``model``, ``kind``, ``eager_ms``,
        ``xla_ms``, and ``gap_share``, the part of the difference, 0 to 1.

    Raises:
        RunFailedError: The process that measures failed.
    """
    # A process of its own: torch_xla must be imported before any backward.
    rows: list[dict[str, Any]] = measured(
        f"XLA's time for {model}",
        *("-m", __name__, model, json.dumps(core)),
        environment={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        limit_s=None,
    )
    return rows


def _measure(model: str) -> list[dict[str, Any]]:
    from smtc_lab.compiler.xla.setup import prepare_xla  # noqa: PLC0415  imports torch

    with tempfile.TemporaryDirectory() as folder:
        prepare_xla(dump_folder=Path(folder, "hlo"))
        eager = _eager_ms(model)
        xla = _xla_ms(model, Path(folder))
    gap = sum(xla.values()) - sum(eager.values())
    kinds = [name for name, _ in _KINDS] + [_OTHER, _HOST]
    rows = [(kind, eager.get(kind, 0.0), xla.get(kind, 0.0)) for kind in kinds]
    rows.append(("total", sum(eager.values()), sum(xla.values())))
    return [
        {
            "model": model,
            "kind": kind,
            "eager_ms": round(eager_ms, 1),
            "xla_ms": round(xla_ms, 1),
            "gap_share": round((xla_ms - eager_ms) / gap, 3) if gap else None,
        }
        for kind, eager_ms, xla_ms in rows
    ]


def _step(model: str, backend: str) -> tuple[Any, Any]:
    """Return a compiled step and a batch for it."""
    import torch  # noqa: PLC0415  torch_xla must come first
    from torch.utils.data import DataLoader  # noqa: PLC0415  as above

    from notebooks.benchmarks.networks.models import workload  # noqa: PLC0415  as above
    from smtc_lab.compiler.eager import EagerStep  # noqa: PLC0415  as above
    from smtc_lab.compiler.xla.backend import XlaStep  # noqa: PLC0415  as above
    from smtc_lab.spec.compiler import TrainingCompilerConfig  # noqa: PLC0415  as above

    torch.manual_seed(0)
    work = workload(model)
    batch = next(iter(DataLoader(work.dataset, batch_size=work.batch_size)))
    make: Callable[..., Any] = XlaStep if backend == "xla" else EagerStep
    config = TrainingCompilerConfig(backend=backend)
    return make(work.train_step, work.model, work.optimizer, config=config), batch


def _cpu_ms(step: Any, batch: Any) -> tuple[float, float]:  # noqa: ANN401  a step and its batch
    """Return the process's and this thread's CPU time of a steady step, medians."""
    seconds = []
    for _ in range(STEPS + 3):
        process, thread = time.process_time(), time.thread_time()
        step(batch)
        own = time.thread_time() - thread
        step.wait()
        seconds.append((time.process_time() - process, own))
    whole, own = (1e3 * median(column) for column in zip(*seconds[3:], strict=True))
    return whole, own


def _eager_ms(model: str) -> dict[str, float]:
    from torch.profiler import profile  # noqa: PLC0415  torch_xla must come first

    step, batch = _step(model, "eager")
    total, _ = _cpu_ms(step, batch)
    with profile() as seen:
        step(batch)
    found: defaultdict[str, float] = defaultdict(float)
    for it in seen.key_averages():
        found[_kind(it.key)] += it.self_cpu_time_total
    return _scaled(found, total)


def _xla_ms(model: str, folder: Path) -> dict[str, float]:
    profiler = importlib.import_module("torch_xla.debug.profiler")
    step, batch = _step(model, "xla")
    total, host = _cpu_ms(step, batch)
    profiler.start_trace(str(folder))
    for _ in range(STEPS):
        step(batch)
        step.wait()
    profiler.stop_trace()
    programs = folder.glob("hlo/*after_optimizations.txt")
    program = max(programs, key=lambda file: file.stat().st_size).read_text(encoding="utf-8")
    kernels = dict(re.findall(r"^\s+(?:ROOT )?%(\S+) (= .*)$", program, re.MULTILINE))
    shortest: dict[str, float] = {}
    for path in folder.rglob("*.xplane.pb"):
        for name, duration in _events(path.read_bytes()):
            if name in kernels:
                shortest[name] = min(duration, shortest.get(name, duration))
    found: defaultdict[str, float] = defaultdict(float)
    for name, duration in shortest.items():
        found[_kind(f"{name} {kernels[name]}")] += duration
    return {**_scaled(found, total - host), _HOST: host}


def _kind(text: str) -> str:
    return next((kind for kind, sign in _KINDS if re.search(sign, text)), _OTHER)


def _scaled(parts: dict[str, float], total: float) -> dict[str, float]:
    whole = sum(parts.values())
    return {kind: value / whole * total for kind, value in parts.items()}


def _events(space: bytes) -> Iterator[tuple[str, float]]:
    """Yield name and duration of each event of a trace, an XSpace of protocol buffers.

    Source: field numbers of ``tsl/profiler/protobuf/xplane.proto``.
    """
    for plane in _fields(space, 1):
        names = {}
        for entry in _fields(plane, 4):
            (described,) = _fields(entry, 2)
            names[next(_fields(described, 1), 0)] = next(_fields(described, 2), b"").decode()
        for line in _fields(plane, 3):
            for event in _fields(line, 4):
                yield names.get(next(_fields(event, 1), 0), ""), next(_fields(event, 3), 0)


def _fields(message: bytes, wanted: int) -> Iterator[Any]:
    """Yield each value of one field of a protocol buffer."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        value: Any
        if key & 7 == 0:
            value, place = _number(message, place)
        else:
            size, place = (
                _number(message, place) if key & 7 == 2 else ({1: 8, 5: 4}[key & 7], place)
            )
            value, place = message[place : place + size], place + size
        if key >> 3 == wanted:
            yield value


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Return the number of variable length at a place, and the place after it."""
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


if __name__ == "__main__":
    pinned = json.loads(sys.argv[2])
    if pinned is not None:
        os.sched_setaffinity(0, {pinned})
    sys.stdout.write(json.dumps(_measure(sys.argv[1])) + "\n")
