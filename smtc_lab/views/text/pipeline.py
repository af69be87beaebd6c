"""A pipeline as a short table: its stages, how busy their ranks are, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.text_table import aligned
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from smtc_lab.metrics.pipeline.times import PipelineTimes, StageTimes

_HEAD = ("stage", "modules", "FLOPs", "rank", "busy", "bubble", "memory")
_MOST_STAGES = 64
_MOST_COLUMNS = 40
_MIB = 2**20


def pipeline_lines(times: PipelineTimes) -> list[str]:
    """Return a sentence, and a line for each stage.

    Its bubble is the share of the step in which it waits for other stages, as in the view;
    its memory is what the cut predicts.
    """
    rows = [_HEAD, *(_row(times, stage) for stage in times.stages[:_MOST_STAGES])]
    left = len(times.stages) - _MOST_STAGES
    more = [f"and {fmt.count(left, 'more stage')}"] if left > 0 else []
    return [fmt.plain(times.sentence), *aligned(rows), *more]


def _row(times: PipelineTimes, stage: StageTimes) -> tuple[str, ...]:
    rank = times.ranks[stage.rank]
    busy, waits = (_share(part, times.window_s) for part in (rank.busy_s, rank.wait_s))
    first, last = (fmt.plain(name) for name in (stage.first_module, stage.last_module))
    modules = first if first == last else f"{first} … {last}"
    return (
        str(stage.stage),
        fmt.plain(modules, _MOST_COLUMNS),
        fmt.percent(stage.flops_fraction),
        str(rank.rank),
        fmt.percent(busy),
        fmt.percent(waits),
        f"{fmt.number(stage.memory_bytes / _MIB)} MiB predicted{_on_host(stage)}",
    )


def _on_host(stage: StageTimes) -> str:
    if not stage.host_bytes:
        return ""
    return f", {fmt.number(stage.host_bytes / _MIB)} MiB in host memory"


def _share(part_s: float | None, window_s: float | None) -> float | None:
    return None if part_s is None or not window_s else part_s / window_s
