"""Runs every rule over one run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.rules.cpu_bottleneck import cpu_bottleneck_findings
from smtc_lab.rules.graphs import graph_findings
from smtc_lab.rules.host import host_findings
from smtc_lab.rules.shapes import shape_findings
from smtc_lab.rules.step import step_findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from smtc_lab.rules.finding import Finding
    from smtc_lab.rules.observation import Observation

RULES: tuple[Callable[[Observation], Iterable[Finding]], ...] = (
    graph_findings,
    shape_findings,
    host_findings,
    step_findings,
    cpu_bottleneck_findings,
)
"""Every rule, each a pure function."""


def find(seen: Observation) -> tuple[Finding, ...]:
    """Return what could be better in a run: warnings first, the costliest first among equals.

    Findings whose cost is not known stand behind those whose cost is. What an emulated run
    measured is called emulated.
    """
    findings = [finding for rule in RULES for finding in rule(seen)]
    kinds = {finding.kind for finding in findings}
    if "cpu_bottleneck" in kinds:  # it tells why the trainer waits
        findings = [finding for finding in findings if finding.kind != "data_wait"]
    if seen.is_emulated:
        findings = [
            replace(each, cost_is="emulated") if each.cost_is == "measured" else each
            for each in findings
        ]
    return tuple(sorted(findings, key=lambda each: _rank(each, seen)))


def _rank(finding: Finding, seen: Observation) -> tuple[bool, float]:
    fraction = finding.cost_fraction
    if fraction is None and finding.cost_s_per_step is not None and seen.step_time_s:
        fraction = finding.cost_s_per_step / seen.step_time_s
    return finding.severity != "warning", -(fraction or 0.0)
