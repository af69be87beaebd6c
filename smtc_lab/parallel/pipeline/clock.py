"""When the stages of a rank compute what; and the time that an emulated device takes for it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.metrics.pipeline.expected import FORWARD_SHARE, apart_shares
from smtc_lab.metrics.records.pipeline_records import (
    BACKWARD,
    FORWARD,
    MOST_MICROBATCHES,
    WEIGHT,
    MicrobatchRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smtc_lab.parallel.pipeline.building import Built

_FIRST_STEPS = 5
_EVERY = 10
_TIMED_AT_ONE_PACE = 50
"""Steps that are timed before they become half as frequent."""

_SLOWER = 1.1
_OFTEN = 10
"""Computations that took longer than an emulated device, after which it is told."""


class SampledSteps:
    """Which steps of a pipeline are timed: the same on all its ranks.

    The first few, then every tenth, every twentieth and so on, so that a million steps leave a
    few hundred.
    """

    def __init__(self) -> None:
        self.is_timed = False
        """Whether the step that goes on is timed."""

        self.count = 0
        """Steps that were begun."""

        self._every, self._timed = _EVERY, 0

    def begin(self) -> bool:
        """Begin the next step; return whether it is timed."""
        self.is_timed = self.count < _FIRST_STEPS or self.count % self._every == 0
        self.count += 1
        self._timed += self.is_timed
        if self._timed == _TIMED_AT_ONE_PACE:
            self._every, self._timed = 2 * self._every, 0
        return self.is_timed


@dataclass(kw_only=True)
class _ClockMark:
    """A computation that an accelerator has still to do."""

    record: Callable[..., MicrobatchRecord]
    begin: Any
    end: Any


@dataclass(kw_only=True, eq=False)
class StageClock:
    """Times what the stages of a rank compute, from when it is started on."""

    built: Built
    """The stages."""

    microbatches: int
    """Microbatches of a batch."""

    device: torch.device
    """Where they compute."""

    step: Callable[[], int]
    """Returns the number of the step that goes on."""

    record: Callable[[MicrobatchRecord], None]
    """Keeps a record."""

    device_s: Mapping[int, float] = field(default_factory=dict)
    """Declared time of an emulated device for a microbatch, forward and backward, in seconds,
    by stage; empty: the device is not emulated."""

    on_overrun: Callable[[float, float], None] = lambda _declared_s, _took_s: None
    """Called once where this machine is slower than the emulated device: with the declared
    time of a computation and what it took, in seconds."""

    summed_s: Callable[[], float] = lambda: 0.0
    """Returns how long a declared network took for all sums of layers' parts so far, in
    seconds: an emulated device waits for them beside its own time."""

    backward_s: float = 0.0
    """When the first backward of the batch that goes on began, as ``time.perf_counter``."""

    _sampled: SampledSteps = field(default_factory=SampledSteps)
    _number: int = -1
    _first: int = 0
    _left: int = MOST_MICROBATCHES
    _overruns: int = 0
    _marks: list[_ClockMark] = field(default_factory=list)
    _anchor: tuple[float, Any] | None = None
    _offset_s: float = 0.0

    def start(self) -> None:
        """Take over what torch's stages compute with. To be called once, on all ranks at once.

        From then on the clock goes by itself: the host's may be set anew meanwhile.
        """
        self._offset_s = time.time() - time.perf_counter()
        for stage, chunk in self.built.chunks.items():
            can_split = partial(_can_split, chunk)
            for name, timed in (
                ("forward_one_chunk", self._forward),
                ("backward_one_chunk", self._backward),
                ("backward_weight_one_chunk", self._weight),
            ):
                setattr(chunk, name, partial(timed, stage, can_split, getattr(chunk, name)))
        schedule = self.built.schedule
        schedule.step = partial(self._pass, schedule.step)

    def _pass(self, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch's
        """Run all microbatches of one batch."""
        self.backward_s = 0.0
        number = self.step()
        if number == self._number:
            self._first += self.microbatches
        else:
            self._number, self._first = number, 0
            self._sampled.begin()
        is_timed = self._sampled.is_timed and self._left > 0
        if is_timed and self.device.type == "cuda":
            self._anchor = (_synchronized_s(self.device), _event())
        try:
            return run(*args, **kwargs)
        finally:
            if self._anchor is not None:
                self._settle(*self._anchor)

    def _forward(
        self,
        stage: int,
        _: Callable[[], bool],
        run: Callable[..., Any],
        microbatch: int,
        *args: Any,  # noqa: ANN401  torch's
        **kwargs: Any,  # noqa: ANN401  torch's
    ) -> Any:  # noqa: ANN401  torch's
        compute = partial(run, microbatch, *args, **kwargs)
        return self._timed((FORWARD, stage, microbatch), FORWARD_SHARE, compute)

    def _backward(
        self,
        stage: int,
        can_split: Callable[[], bool],
        run: Callable[..., Any],
        microbatch: int,
        *args: Any,  # noqa: ANN401  torch's
        full_backward: bool = True,
        **kwargs: Any,  # noqa: ANN401  torch's
    ) -> Any:  # noqa: ANN401  torch's
        self.backward_s = self.backward_s or time.perf_counter()
        share = 1 - FORWARD_SHARE
        if not full_backward and can_split():
            share = apart_shares(stage)[0]
        compute = partial(run, microbatch, *args, full_backward=full_backward, **kwargs)
        return self._timed((BACKWARD, stage, microbatch), share, compute)

    def _weight(
        self,
        stage: int,
        can_split: Callable[[], bool],
        run: Callable[..., Any],
        microbatch: int,
        *args: Any,  # noqa: ANN401  torch's
        **kwargs: Any,  # noqa: ANN401  torch's
    ) -> Any:  # noqa: ANN401  torch's
        share = 0.0
        if can_split():
            share = apart_shares(stage)[1]
        compute = partial(run, microbatch, *args, **kwargs)
        return self._timed((WEIGHT, stage, microbatch), share, compute)

    def _timed(
        self, what: tuple[str, int, int], share: float, compute: Callable[[], Any]
    ) -> Any:  # noqa: ANN401  torch's
        """Compute, for no less than the share of a microbatch that an emulated device takes."""
        kind, stage, microbatch = what
        begun = None if self._anchor is None else _event()
        summed_s, begin_s = self.summed_s(), time.perf_counter()
        returned = compute()
        end_s = time.perf_counter()
        device_s = self.device_s.get(stage)
        if device_s is not None:
            end_s = self._take(begin_s, end_s, share * device_s + self.summed_s() - summed_s)
        if not self._sampled.is_timed or self._left <= 0:
            return returned
        self._left -= 1
        made = partial(
            MicrobatchRecord,
            step=self._number,
            stage=stage,
            microbatch=self._first + microbatch,
            kind=kind,
        )
        if begun is not None:
            self._marks.append(_ClockMark(record=made, begin=begun, end=_event()))
        else:
            self._keep(made, begin_s, end_s)
        return returned

    def _take(self, begin_s: float, end_s: float, declared_s: float) -> float:
        """Wait until an emulated device would be ready; return when that was."""
        left_s = begin_s + declared_s - end_s
        if left_s > 0:
            time.sleep(left_s)
            return time.perf_counter()
        is_warm = self._sampled.count > 1
        if is_warm and end_s - begin_s > _SLOWER * declared_s > 0:
            self._overruns += 1
            if self._overruns == _OFTEN:
                self.on_overrun(declared_s, end_s - begin_s)
        return end_s

    def _settle(self, anchor_s: float, anchor: Any) -> None:  # noqa: ANN401  an event of torch
        """Record what an accelerator has computed, by its own clock."""
        self._anchor = None
        _synchronized_s(self.device)
        marks, self._marks = self._marks, []
        for mark in marks:
            times_s = [
                anchor_s + anchor.elapsed_time(one) / 1e3 for one in (mark.begin, mark.end)
            ]
            self._keep(mark.record, *times_s)

    def _keep(
        self, made: Callable[..., MicrobatchRecord], begin_s: float, end_s: float
    ) -> None:
        self.record(
            made(begin_time_s=begin_s + self._offset_s, end_time_s=end_s + self._offset_s)
        )


def _can_split(chunk: Any) -> bool:  # noqa: ANN401  torch's
    """Whether a stage computes gradients of weights apart; see ``torch_stage``."""
    return chunk.dw_builder is None


def _event() -> Any:  # noqa: ANN401  torch's
    made = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    made.record()
    return made


def _synchronized_s(device: torch.device) -> float:
    torch.cuda.synchronize(device)
    return time.perf_counter()
