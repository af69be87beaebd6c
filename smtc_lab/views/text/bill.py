"""Where billed time went, in words: of a run, of a cluster, of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.metrics.records.cluster_time import OLD_CLOCK
from smtc_lab.views.text import format as fmt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from smtc_lab.metrics.bill import Bill
    from smtc_lab.metrics.result import Evidence, Interval

NO_INTERVALS: Mapping[str, Interval] = {}
"""What is known of the intervals of a bill that is still growing, or of an older version."""

TIME_LABEL = "time of a launch"
"""What a row with the parts in seconds is called."""

COST_LABEL = "cost of a launch"
"""What a row with the parts in USD is called."""

_HERE = (
    "Start-up and end, before and after the CPU quota, are this machine's own seconds: they "
    "have no price, and are not added to those of the steps."
)


def scales_note(emulation: str) -> str:
    """Return what is to be known of the parts of emulated launches.

    Args:
        emulation: How they were emulated, in words, with what their seconds are.
    """
    clock = OLD_CLOCK if OLD_CLOCK in emulation else "cluster time"
    return f"Steps are told in {clock}. {_HERE}"


def what_is_priced(evidence: Evidence) -> str:
    """Return which time the cost of a run is of."""
    return "its steps alone" if evidence == "emulated" else "start-up and end included"


def time_lines(
    bill: Bill | None, intervals: Mapping[str, Interval] = NO_INTERVALS
) -> tuple[str, ...]:
    """Return the parts in seconds, each with its share of the whole: ``end 4.4 s, 32 %``.

    Parts of an emulated launch are of two clocks, so that they have no shares.

    Args:
        bill: Of a launch, or the mean of several.
        intervals: Of its fields by name, ``bill.end_s`` and so on, as far as they are known.
    """
    if bill is None:
        return (fmt.UNKNOWN,)
    whole_s = None if bill.evidence == "emulated" else bill.billed_s
    return tuple(
        f"{name} {_with_interval(part_s, intervals.get(f'bill.{field}_s'), in_usd=False)}"
        f"{_share(part_s, whole_s)}"
        for name, field, part_s, _ in _parts(bill)
    )


def cost_lines(
    bill: Bill | None, intervals: Mapping[str, Interval] = NO_INTERVALS
) -> tuple[str, ...]:
    """Return the parts in USD: ``steps $0.0064``; without those that have no price.

    Args:
        bill: Of a launch, or the mean of several.
        intervals: Of its fields by name, ``bill.end_usd`` and so on, as far as they are known.
    """
    if bill is None or bill.steps_usd is None:
        return (fmt.UNKNOWN,)
    told = {
        field: f"{name} {_with_interval(part_usd, intervals.get(f'bill.{field}_usd'))}"
        for name, field, _, part_usd in _parts(bill)
    }
    if bill.evidence == "emulated":
        return (told["steps"], "start-up, end: not priced")
    return tuple(told.values())


def bill_words(bill: Bill) -> str:
    """Return the parts known so far in a row, each with its price where it has one."""
    words = [
        f"{name} {fmt.seconds(part_s)}{'' if part_usd is None else f' ({fmt.usd(part_usd)})'}"
        for name, _, part_s, part_usd in _parts(bill)
        if part_s is not None
    ]
    return ", ".join(words) or fmt.UNKNOWN


def tells_bills(bills: Iterable[Bill | None]) -> bool:
    """Return whether some of the parts are known of any launch."""
    return any(bill is not None and bill.steps_s is not None for bill in bills)


def _parts(bill: Bill) -> tuple[tuple[str, str, float | None, float | None], ...]:
    """Return name, begin of its fields' names, seconds and USD of each part."""
    lost = ("interruptions", "interruptions", bill.interruptions_s, bill.interruptions_usd)
    return (
        ("start-up", "startup", bill.startup_s, bill.startup_usd),
        ("steps", "steps", bill.steps_s, bill.steps_usd),
        *([lost] if bill.num_interruptions else []),
        ("end", "end", bill.end_s, bill.end_usd),
    )


def _with_interval(
    value: float | None, interval: Interval | None, *, in_usd: bool = True
) -> str:
    if interval is None:
        return fmt.usd(value) if in_usd else fmt.seconds(value)
    return fmt.usd_interval(interval) if in_usd else fmt.seconds_interval(interval)


def _share(part_s: float | None, billed_s: float | None) -> str:
    return "" if part_s is None or not billed_s else f", {fmt.percent(part_s / billed_s)}"
