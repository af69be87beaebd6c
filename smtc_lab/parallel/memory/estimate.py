"""How long a spread step would take on a cluster, where that is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from smtc_lab.metrics.memory.step_time import SharedStep, exchange_s, step_interval
from smtc_lab.metrics.pipeline.played import StageTime, simulate
from smtc_lab.parallel.pipeline.cutting.pieces import flops
from smtc_lab.parallel.pipeline.planning.order import compute_order
from smtc_lab.parallel.pipeline.schedules import SCHEDULES

if TYPE_CHECKING:
    from smtc_lab.catalog.accelerators import Workload
    from smtc_lab.metrics.memory.step_time import Wires
    from smtc_lab.metrics.memory.strategies import StageParts
    from smtc_lab.metrics.result import Interval
    from smtc_lab.parallel.memory.spreads import Spread
    from smtc_lab.parallel.pipeline.cutting.pieces import Pieces

_CONVOLUTIONS = (
    torch.nn.Conv1d,
    torch.nn.Conv2d,
    torch.nn.Conv3d,
    torch.nn.ConvTranspose1d,
    torch.nn.ConvTranspose2d,
    torch.nn.ConvTranspose3d,
)


@dataclass(frozen=True, kw_only=True)
class StepEstimate:
    """What all estimates of one model have in common."""

    pieces: Pieces
    recorded: int
    """Samples with which the model was recorded."""

    global_batch_size: int
    parameter_bytes: float
    gradient_bytes: float
    utilization: Interval
    _shares: dict[tuple[tuple[StageParts, ...], int], float] = field(default_factory=dict)

    @property
    def flops_per_sample(self) -> float:
        """Operations of a sample, forward and backward."""
        return sum(map(flops, self.pieces.sequence)) / self.recorded

    def step_s(
        self, spread: Spread, wires: Wires, *, devices_each: int, peak_flops_per_s: float | None
    ) -> Interval | None:
        """Return the time of a step; None: something of it is unknown.

        Args:
            spread: How the step is spread.
            wires: The network.
            devices_each: Devices of an instance.
            peak_flops_per_s: Of a device; None: unknown.
        """
        whole = self.flops_per_sample * self.global_batch_size
        if peak_flops_per_s is None or not whole or spread.tensor > 1:
            return None  # of tensor parts it is not known what they exchange
        devices = spread.data * spread.shard * spread.pipeline
        shape = SharedStep(
            instances=devices // devices_each, devices_each=devices_each, shard=spread.shard
        )
        if spread.pipeline > 1:
            return self._pipeline_s(spread, wires, shape, whole / peak_flops_per_s)
        beside_s = exchange_s(
            shape,
            wires,
            parameter_bytes=self.parameter_bytes,
            gradient_bytes=self.gradient_bytes,
            accumulations=spread.accumulations,
        )
        if beside_s is None:
            return None
        at_peak_s = whole / devices / peak_flops_per_s
        return step_interval(lambda used: at_peak_s / used, self.utilization, beside_s=beside_s)

    def _pipeline_s(
        self, spread: Spread, wires: Wires, shape: SharedStep, whole_s: float
    ) -> Interval | None:
        rate = wires.slowest(
            crosses=spread.pipeline > shape.devices_each or spread.data > 1,
            inside=shape.devices_each > 1,
        )
        if rate is None:
            return None
        microbatches, ranks = spread.microbatches or 1, spread.pipeline
        send_s = self._sent_bytes(spread) / rate
        # each stage's share of the gradients goes round the replicas, through one card
        average_s = 2 * (spread.data - 1) / spread.data * self.gradient_bytes / rate
        share = self._share_of_one_device(spread.stages, microbatches) / spread.data
        return step_interval(
            lambda used: share * whole_s / used,
            self.utilization,
            after_s=2 * (ranks - 1) * send_s + average_s,
            worst_s=2 * (microbatches + ranks - 1) * send_s + average_s,
        )

    def _share_of_one_device(self, stages: tuple[StageParts, ...], microbatches: int) -> float:
        """Return the time of a step of a pipeline over that of one device; memory aside."""
        key = (stages, microbatches)
        if key not in self._shares:
            whole = sum(map(flops, self.pieces.sequence)) * microbatches
            times = []
            for stage in stages:
                own = self.pieces.sequence[slice(*stage.pieces)]
                forward = sum(one.forward_flops for call in own for one in call.walk())
                both = sum(map(flops, own))
                times.append(
                    StageTime(forward_s=forward / whole, backward_s=(both - forward) / whole)
                )
            order = compute_order(SCHEDULES["1f1b"], len(stages), len(stages), microbatches)
            self._shares[key] = simulate(order, times).step_s
        return self._shares[key]

    def _sent_bytes(self, spread: Spread) -> float:
        """Return the most that crosses between two stages: of one microbatch, one way."""
        each = spread.batch_size / (spread.microbatches or 1) / self.recorded
        cuts = [self.pieces.cut(stage.pieces[0]) for stage in spread.stages[1:]]
        return max((each * cut.num_bytes for cut in cuts), default=0.0)


def workload_of(pieces: Pieces) -> Workload:
    """Return what most operations of a model are."""
    calls = list(pieces.recording.root.walk())
    whole = sum(one.forward_flops for one in calls)
    of_convolutions = sum(
        one.forward_flops for one in calls if isinstance(one.module, _CONVOLUTIONS)
    )
    return "convolutions" if 2 * of_convolutions > whole else "products"
