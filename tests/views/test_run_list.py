from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtc_lab.views.run_list import RunList

if TYPE_CHECKING:
    from tests.kit.golden_texts import GoldenTexts

ROW: dict[str, Any] = {
    "job_name": "digits-1",
    "cluster": "a=ml.p3.2xlarge:1",
    "state": "Completed",
    "reason": "",
    "started_s": 100_000.0,
    "ended_s": 100_012.5,
    "exit_codes": {"algo-1": 0},
}


def listed(*rows: dict[str, Any]) -> RunList:
    return RunList(rows=rows, root=Path("/runs"), begin_with="%%smtc")


def test_a_list_is_text_and_a_table_and_never_markup(golden_texts: GoldenTexts) -> None:
    waiting = ROW | {"job_name": "digits-10", "state": "Pending", "started_s": None}
    damaged = {"job_name": "bad", "damaged": "no <img src=x onerror=alert(1)> here"}

    runs = listed(ROW, waiting, damaged, ROW | {"cluster": "<script>alert(1)</script>"})

    html = runs._repr_html_()
    assert "<img" not in html
    assert "<script" not in html
    assert html.count('role="row"') == 4
    told = re.sub(r"1970-01-0. \d\d:\d\d", "1970-01-02 HH:MM", str(runs))  # of this time zone
    golden_texts("runs", {"runs": told, "none": str(listed())})
    assert str(listed()) in listed()._repr_html_().replace("\xa0", " ")
