"""Findings in words, as every view, page and terminal shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtc_lab.metrics.finding import Severity  # noqa: TC001  pydantic reads it
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.compiler import place_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.finding import Cost, Finding
    from smtc_lab.metrics.result import Interval


@dataclass(frozen=True, kw_only=True)
class FindingInfo:
    """Something that could be better, or that a reader must know."""

    severity: Severity
    """``warning``: it costs time, or trust."""

    sentence: str
    """Where it was found, what it is, and what it costs where that is known."""

    fix: str
    """What to do about it; empty: nothing."""

    action: str = ""
    """Line of Python, or of a shell, that begins to do it; empty: none is offered."""

    @property
    def words(self) -> str:
        """What was found and what to do, without the line to copy."""
        return f"{self.severity}: {self.sentence} {self.fix}".rstrip()

    def __str__(self) -> str:
        return f"{self.words} {self.action}".rstrip()


def told(findings: Iterable[Finding]) -> tuple[FindingInfo, ...]:
    """Return findings in words."""
    return tuple(map(_told, findings))


def beside_verdict(comparison: Comparison) -> tuple[Finding, ...]:
    """Return the findings of a comparison that its verdict does not tell already."""
    verdict = comparison.verdict
    return tuple(each for each in comparison.findings if each.text not in verdict)


def _told(finding: Finding) -> FindingInfo:
    step = None if finding.step is None else f"step {finding.step:,}"
    line = None if finding.place is None else place_words(finding.place)
    where = ", ".join(filter(None, (finding.rank, line, step)))
    cost = "" if finding.cost is None else f" ({cost_words(finding.cost)})"
    return FindingInfo(
        severity=finding.severity,
        sentence=fmt.brief(f"{where and f'{where}: '}{finding.sentence}{cost}"),
        fix=fmt.brief(finding.fix),
        action=fmt.brief(finding.action),
    )


def cost_words(cost: Cost) -> str:
    """Return a share of the time, the same in seconds and in USD, and how they are known."""
    if cost.fraction is None:
        return "cost not measured"
    if cost.fraction == 0:
        return "no cost here"
    words = [f"{fmt.percent(cost.fraction)} of the time"]
    if (time_s := cost.s_per_step) is not None:
        words.append(f"{_with_ends(time_s, fmt.seconds_interval(time_s))} per step")
    if (usd := cost.usd_per_1000_steps) is not None:
        words.append(f"{_with_ends(usd, fmt.usd_interval(usd))} per 1,000 steps")
    return ", ".join([*words, cost.evidence])


def _with_ends(interval: Interval, words: str) -> str:
    return words.partition(" (")[0] if interval.low == interval.high else words
