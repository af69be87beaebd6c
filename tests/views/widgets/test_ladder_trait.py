"""What compiler settings brought, as a workbench tells it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_workbench_looks_once_a_browser_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    workbench = Workbench()
    assert workbench.compiler_ladders["of"] == ""

    workbench._handle_custom_msg({"type": "compiler-ladders"}, [])

    wait_until(lambda: workbench.compiler_ladders["of"] != "", what="the answer")
    assert json.loads(workbench.compiler_ladders["of"]) == workbench.value
    assert workbench.compiler_ladders["problem"] == ""
    workbench.close()
