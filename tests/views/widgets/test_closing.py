"""A view that closes while a thread tells it something."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from smtc_lab.views.widgets.workbench import Workbench
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    import pytest


def test_a_view_closes_once_what_is_being_sent_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    workbench = Workbench()
    comm = workbench.comm
    begun, go_on, done = threading.Event(), threading.Event(), []

    def send(*_arguments: Any, **_values: Any) -> None:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        done.append("sent")

    monkeypatch.setattr(comm, "send", send)
    monkeypatch.setattr(comm, "close", lambda *_arguments, **_values: done.append("closed"))
    tells = threading.Thread(target=workbench.set_trait, args=("catalog_plans", {"of": "x"}))
    closes = threading.Thread(target=workbench.close)
    tells.start()
    assert begun.wait(PATIENCE_S)
    closes.start()
    closes.join(0.2)  # it waits here
    go_on.set()
    tells.join(PATIENCE_S)
    closes.join(PATIENCE_S)

    assert done == ["sent", "closed"]
    workbench.set_trait("catalog_plans", {"of": "y"})
    assert done == ["sent", "closed"]
