"""One run in words: what a saved notebook, a terminal and an e-mail show of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.bill import bill_words, scales_note, what_is_priced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from smtc_lab.views.run.info import RunInfo
    from smtc_lab.views.run.rank_info import RankInfo
    from smtc_lab.views.run.snapshot import RunSnapshot

_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 28  # with its name and scale a line on paper
_BITS = ((1.0, "Gbit/s"), (1e-3, "Mbit/s"), (1e-6, "kbit/s"))


def evidence_words(info: RunInfo) -> str:
    """Return what the numbers are: measured, or emulated and how."""
    if info.evidence == "measured":
        return "measured on this machine" if info.runs_here else "measured"
    return f"emulated, {info.emulation}"


def run_rows(run: RunSnapshot) -> list[tuple[str, str]]:
    """Return names and values of what is known of a run, in the order in which it is read."""
    info = run.info
    steps = fmt.UNKNOWN if info.steps is None else f"{info.steps:,}"
    if info.max_steps is not None:
        steps += f" of {info.max_steps:,}"
    rows = [
        ("numbers are", evidence_words(info)),
        ("script", info.entry_point),
        *_spread_rows(info),
        *([] if info.pipeline is None else [("pipeline", info.pipeline.sentence)]),
        *([("Python environment", info.python_environment)] if info.python_environment else []),
        *([("steps", steps), *_summary_rows(info)] if run.steps or info.ended else []),
        ("took", fmt.seconds(info.elapsed_s)),
        ("cost", _cost(info)),
        *_bill_rows(info),
        *_spot_rows(info),
        ("prices", "; ".join(info.price_notes) or fmt.UNKNOWN),
    ]
    if info.compiler is not None:
        rows.append(("compiler", " ".join([info.compiler.backend, *info.compiler.words])))
    return rows


def _cost(info: RunInfo) -> str:
    if info.usd_per_hour is None:
        return (
            "none: on this machine, nothing is billed"
            if info.is_billed is False
            else f"{fmt.usd(info.usd_so_far)}, price unknown"
        )
    price = f"at {fmt.usd_per_hour(info.usd_per_hour)}, {what_is_priced(info.evidence)}"
    return f"{fmt.usd(info.usd_so_far)}, {price}"


def group_rows(info: RunInfo) -> list[tuple[str, str]]:
    """Return the instance groups of a run: name, and what it is."""
    rows = []
    for group in info.groups:
        instances = f"{group.instance_count} {fmt.TIMES} {group.instance_type}"
        role = f", {group.role}" if group.role else ""
        rows.append((f"group {group.name}", f"{instances}{role}"))
    return rows


def bar_rows(run: RunSnapshot) -> list[tuple[str, str, str]]:
    """Return what charts show, in characters: name, bars over the run, and the scale."""
    rows = []
    if run.steps is not None:
        time_s = run.steps.column("step_time_s")
        # a first step of seconds would press all others flat
        top_s = float(np.quantile(time_s, 0.98))
        rows.append(("step time", bars(time_s, top_s), f"0 to {fmt.seconds(top_s)}"))
    rows.extend(
        (f"CPU of {name}", bars(run.hosts[host].column("cpu"), 1.0), "0 to 100 %")
        for name, host in host_names(run.info)
        if host in run.hosts
    )
    return rows


def run_text(run: RunSnapshot) -> str:
    """Return a run as text for a terminal or a log."""
    info = run.info
    rows = [*run_rows(run), *((name, f"{bar}  {scale}") for name, bar, scale in bar_rows(run))]
    width = max(len(fmt.plain(name)) for name, _ in rows)
    lines = [f"{fmt.plain(info.job_name)}: {fmt.plain(fmt.state_word(info.word))}"]
    lines += [f"  {fmt.plain(line)}" for line in info.reason.splitlines()]
    lines += [f"  {fmt.plain(name):<{width}}  {fmt.plain(value)}" for name, value in rows]
    lines += [f"  {finding}" for finding in info.findings]
    return "\n".join(lines)


def bars(values: NDArray[np.float64], top: float) -> str:
    """Return values as bars of 8 heights from 0 to ``top``, at most 28; blank: not known."""
    edges = np.linspace(0, len(values), min(_COLUMNS, len(values)) + 1).astype(int)
    text = ""
    for begin, end in pairwise(edges):
        known = values[begin:end][np.isfinite(values[begin:end])]
        if known.size == 0:
            text += " "
            continue
        share = float(known.mean()) / top if top > 0 else 0.0
        text += _BARS[min(len(_BARS) - 1, max(0, int(share * len(_BARS))))]
    return text


def _spread_rows(info: RunInfo) -> list[tuple[str, str]]:
    spread = info.spread
    if spread is None:
        return []
    of_each = "each " if spread.replicas > 1 else ""
    each = "" if spread.shard == 1 else f", {of_each}shared by {spread.shard} of them"
    words = f"{spread.trainers}: {fmt.count(spread.replicas, 'replica')} of the model{each}"
    rows = [("trainers", words)] if spread.trainers > 1 else []
    wires = [
        f"{where} {_bits(wire.gbps)}, {fmt.seconds(wire.latency_s)}"
        for where, wire in (
            ("between instances", spread.between),
            ("inside an instance", spread.inside),
        )
        if wire is not None
    ]
    source = "the catalog's" if spread.is_rated else "declared"
    return [*rows, *([("network", f"{'; '.join(wires)} ({source})")] if wires else [])]


def _bits(gbps: float) -> str:
    """Return a bandwidth given in Gbit/s."""
    size, unit = next((each for each in _BITS if gbps >= each[0]), _BITS[-1])
    return f"{fmt.number(gbps / size)} {unit}"


def _bill_rows(info: RunInfo) -> list[tuple[str, str]]:
    if info.bill is None or info.bill.steps_s is None:
        return []
    scales = f". {scales_note(info.emulation)}" if info.evidence == "emulated" else ""
    rows = [("of that", f"{bill_words(info.bill)}{scales}")]
    if info.bill.waited_s:
        waited = fmt.seconds(info.bill.waited_s)
        rows.append(("waited", f"{waited} without instances, not billed"))
    return rows


def _spot_rows(info: RunInfo) -> list[tuple[str, str]]:
    spot = info.spot
    if spot is None:
        return []
    billable, training = fmt.seconds(spot.billable_s), fmt.seconds(spot.training_s)
    of = (
        f"{billable} billable of {training} of training"
        if spot.told_by == "platform"
        else f"{billable} with instances of {training} in all; no spot price is in it"
    )
    savings = fmt.percent(spot.savings_fraction)
    return [("Managed spot training savings", f"{savings}, {of}")]


def _summary_rows(info: RunInfo) -> list[tuple[str, str]]:
    summary = info.summary
    if summary is None:
        return [("mean step time", fmt.UNKNOWN)]
    busy = [f"device {fmt.percent(summary.device_utilization)}"]
    busy += [f"CPU of {name} {fmt.percent(cpu)}" for name, cpu in summary.cpu.items()]
    over = (
        f"over {fmt.count(summary.steps, 'step')}, "
        f"{fmt.count(summary.warm_up_steps, 'step')} of warm-up left out"
    )
    return [
        ("mean step time", f"{fmt.seconds_interval(summary.step_time_s)} {over}"),
        ("cost of 1,000 steps", fmt.usd_interval(summary.usd_per_1000_steps)),
        ("data wait", f"{fmt.percent(summary.data_wait_fraction)} of the step time"),
        ("busy", ", ".join(busy)),
        *_rank_rows(info, summary.ranks),
    ]


def _rank_rows(info: RunInfo, ranks: Sequence[RankInfo]) -> list[tuple[str, str]]:
    """Return where each trainer's step time goes, of those that the map shows."""
    rows = () if info.rank_map is None else info.rank_map.rows
    mapped = {row.rank for row in rows} or {one.rank for one in ranks}
    shown = [one for one in ranks if one.rank in mapped]
    more = len(ranks) - len(shown)
    return [
        *((f"rank {one.rank} on {one.host}", _rank_words(one)) for one in shown),
        *([("other ranks", f"{more:,}, which work for less of a step")] if more else []),
    ]


def _rank_words(rank: RankInfo) -> str:
    """Return where a trainer's step time goes."""
    parts = [
        ("waits for data", rank.data_wait_s),
        ("for slower trainers", rank.rank_wait_s),
        ("exposed communication", rank.exposed_comm_s),
    ]
    told = ", ".join(f"{name} {fmt.seconds(value)}" for name, value in parts)
    return f"step {fmt.seconds(rank.step_time_s)}: {told}"


def host_names(info: RunInfo) -> list[tuple[str, str]]:
    """Return what charts call each instance, and its host: ``data_group``, or with its host."""
    return [
        (f"{group.name} {host}" if len(group.hosts) > 1 else group.name, host)
        for group in info.groups
        for host in group.hosts
    ]
