"""What compiler settings brought, asked of a real server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from smtc_lab.views.code.set_ups import first_jobs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Ask = Callable[..., Awaitable[tuple[int, Any]]]


async def test_a_form_whose_script_was_never_compared_is_told_so(ask: Ask) -> None:
    value = [job.model_dump(mode="json") for job in first_jobs()]

    status, told = await ask("compiler-ladders", body={"value": value, "rounds": 1})

    assert status == 200
    assert told["set_ups"] == [{"problem": "", "rungs": [], "pays": None}] * 2


@pytest.mark.parametrize("body", [{}, {"value": None, "rounds": 1}])
async def test_what_holds_no_set_ups_is_refused_with_what_to_do(ask: Ask, body: Any) -> None:
    status, answer = await ask("compiler-ladders", body=body)

    assert status == 400
    assert "Send value" in answer["message"]
