"""What torch_xla's counters tell of a training step."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from smtc_lab.metrics.records.compiler_report import (
    CompileTime,
    HostOperator,
    Recompilation,
)

_HOST_READ = "aten::_local_scalar_dense"

_OBSERVED_STEPS = 10
"""Steps after the first in which operators of the host are counted."""

CACHE_NOTE = (
    "torch_xla 2.9 writes a persistent cache, but cannot load it on CPU: each process compiles "
    "again."
)
"""Why ``cache_hits`` of an XLA run are unknown."""


class XlaCounters:
    """Counts compilations, graphs and operators of the host, step by step.

    Counters of torch_xla are read, never cleared: others may read them too.
    """

    def __init__(self) -> None:
        self._metrics = importlib.import_module("torch_xla.debug.metrics")
        self._compile_s, self._compilations = self._compiled()
        self._first_compile_s, self._first_compilations = self._compile_s, self._compilations
        self._capture_s = 0.0
        self._steps = 0
        self._graphs = self._graphs_before = 0
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._recompilations: list[Recompilation] = []
        self._host_operators: Counter[str] = Counter()

    def graphs(self) -> int:
        """Return how many graphs this process handed to the device so far."""
        return self._count("CachedCompile") + self._count("UncachedCompile")

    def compilations(self) -> tuple[int, int]:
        """Return how many compilations of this process have begun, and how many have ended."""
        data = self._metrics.metric_data("CompileTime")
        return self._count("UncachedCompile"), 0 if data is None else int(data[0])

    def begin_step(self) -> None:
        """Call before a step is traced."""
        self._graphs_before = self.graphs()
        if 0 < self._steps <= _OBSERVED_STEPS:
            self._host_operators.subtract(self._fallbacks())

    def end_step(self, batch: Any, *, call_s: float) -> None:  # noqa: ANN401  whatever the dataset collates to
        """Call after a step was handed to the device.

        Args:
            batch: What it was given.
            call_s: Seconds that the call took, compilations in.
        """
        self._graphs = self.graphs() - self._graphs_before
        if 0 < self._steps <= _OBSERVED_STEPS:
            self._host_operators.update(self._fallbacks())
        shapes = shapes_of(batch)
        if self._count("UncachedCompile") != self._compilations:
            before_s = self._compile_s
            self._compile_s, self._compilations = self._compiled()
            seconds = self._compile_s - before_s
            self._capture_s += max(call_s - seconds, 0.0)
            if self._steps:
                cause = _cause(self._shapes, shapes, step=self._steps)
                self._recompilations.append(
                    Recompilation(cause=cause, step=self._steps, seconds=seconds)
                )
        self._shapes = shapes
        self._steps += 1

    def facts(self) -> dict[str, Any]:
        """Return fields of a ``CompilerReport``, by name."""
        observed = min(self._steps - 1, _OBSERVED_STEPS)
        code_generation_s = self._compile_s - self._first_compile_s
        return {
            "compile_time": CompileTime(
                capture_s=self._capture_s,
                code_generation_s=code_generation_s,
                total_s=self._capture_s + code_generation_s,
                compilations=self._compilations - self._first_compilations,
            ),
            "graphs": self._graphs or None,
            "recompilations": tuple(self._recompilations),
            "host_operators": tuple(
                HostOperator(operator=name, per_step=count / observed)
                for name, count in (+self._host_operators).items()
                if observed > 0
            ),
            "cache_note": CACHE_NOTE,
        }

    def _fallbacks(self) -> dict[str, int]:
        """Return how often the host ran each operator for the device, in this process."""
        names = self._metrics.executed_fallback_ops()
        return {name: self._count(name) for name in names if name != _HOST_READ}

    def _compiled(self) -> tuple[float, int]:
        """Return seconds and number of compilations of this process so far."""
        data = self._metrics.metric_data("CompileTime")
        seconds = 0.0 if data is None else data[1] / 1e9
        return seconds, self._count("UncachedCompile")

    def _count(self, name: str) -> int:
        return int(self._metrics.counter_value(name) or 0)


def shapes_of(batch: Any, *, name: str = "batch") -> dict[str, tuple[int, ...]]:  # noqa: ANN401  whatever the dataset collates to
    """Return the shape of each tensor of a batch, by where it lies: ``batch['ids']``."""
    kind = type(batch)  # the script's own class may answer to any attribute
    if issubclass(kind, torch.Tensor):
        return {name: tuple(batch.shape)}
    if issubclass(kind, Mapping):
        parts = {f"{name}[{key!r}]": value for key, value in batch.items()}
    elif issubclass(kind, list | tuple):
        parts = {f"{name}[{place}]": value for place, value in enumerate(batch)}
    else:
        return {}
    return {
        inner: shape
        for part, value in parts.items()
        for inner, shape in shapes_of(value, name=part).items()
    }


def _cause(
    before: Mapping[str, tuple[int, ...]], after: Mapping[str, tuple[int, ...]], *, step: int
) -> str:
    """Return why a step was compiled again, in words."""
    changes = [
        f"{name}.size({place}): {old} -> {new}"
        for name, shape in after.items()
        if len(before.get(name, ())) == len(shape)
        for place, (old, new) in enumerate(zip(before[name], shape, strict=True))
        if old != new
    ]
    if changes:
        return ", ".join(changes)
    if before.keys() != after.keys() or before != after:
        return "the batch holds other tensors than the one before"
    if step == 1:
        return "the first step left something that was not there before it: state, gradients"
    return "a Python branch or a number of the script made another graph of the same shapes"
