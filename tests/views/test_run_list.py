from __future__ import annotations

from pathlib import Path
from typing import Any

from smtc_lab.views.run_list import RunList

ROW: dict[str, Any] = {
    "job_name": "digits-1",
    "cluster": "a=ml.p3.2xlarge:1",
    "state": "Completed",
    "reason": "",
    "started_s": 100.0,
    "ended_s": 112.5,
    "exit_codes": {"algo-1": 0},
}


def listed(*rows: dict[str, Any]) -> RunList:
    return RunList(rows=rows, root=Path("/runs"), begin_with="%%smtc")


def test_a_list_shows_each_run_as_text_and_as_a_table() -> None:
    waiting = ROW | {"job_name": "digits-10", "state": "Pending", "started_s": None}
    runs = listed(ROW, waiting)

    header, first, second = str(runs).splitlines()
    assert header.split() == ["run", "state", "started", "took", "cluster"]
    assert first.startswith("digits-1   Completed   ")
    assert first.endswith("    12.5 s  a=ml.p3.2xlarge:1")
    assert "Starting    not yet" in second
    html = runs._repr_html_()
    assert '>digits-10<span style="display: none">:</span></span>' in html
    assert html.count('role="row"') == 3
    assert "</span>12.5 s<" in html


def test_what_a_run_says_is_text_and_never_markup() -> None:
    damaged = {"job_name": "bad", "damaged": "no <img src=x onerror=alert(1)> here"}

    runs = listed(damaged, ROW | {"cluster": "<script>alert(1)</script>"})

    html = runs._repr_html_()
    assert "<img" not in html
    assert "<script" not in html
    assert "<div>bad: damaged: no &lt;img" in html
    assert html.count('role="row"') == 2
    assert "bad       damaged: no <img" in str(runs)


def test_a_list_without_runs_says_how_to_start_one() -> None:
    assert str(listed()) == "No runs in /runs. Start one with %%smtc."
    assert "No runs in /runs. Start one with\xa0%%smtc." in listed()._repr_html_()
