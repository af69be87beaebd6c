from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from pytest_jupyter.jupyter_server import *  # noqa: F403  fixtures and hooks, for these tests only
from tornado.httpclient import HTTPClientError

from smtc_lab.launchers.run import Run
from smtc_lab.store.run_folder import find_runs
from smtc_lab.study.comparison.comparison_run import ComparisonRun
from tests.kit.lab_tab import Tab
from tests.kit.quick_script import QUICK_SCRIPT
from tests.kit.runs import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

API = ("smtc-lab", "api")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the folder of runs; what still runs there at the end is stopped."""
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))
    yield tmp_path / "home" / "runs"
    for folder in (tmp_path / "home" / "comparisons").glob("*-*"):
        ComparisonRun.open(str(folder)).stop()
    for run in find_runs(tmp_path / "home" / "runs"):
        if run.handle_file.is_file():
            Run.open(str(run.path)).stop()


@pytest.fixture
def jp_server_config(root: Path) -> dict[str, Any]:  # noqa: ARG001  before the server
    return {"ServerApp": {"jpserver_extensions": {"smtc_lab.views.server": True}}}


@pytest.fixture
def script(jp_root_dir: Path) -> str:
    """Write a script without torch into the server's folder, and return its name."""
    path = jp_root_dir / "train.py"
    path.write_text(QUICK_SCRIPT, encoding="utf-8")
    return path.name


@pytest.fixture
def ask(jp_fetch: Any) -> Callable[..., Awaitable[tuple[int, Any]]]:
    """Return what makes a request, and returns its status and its JSON."""

    async def asked(
        *address: str, body: object = None, method: str | None = None, **options: Any
    ) -> tuple[int, Any]:
        text = body if isinstance(body, str | None) else json.dumps(body)
        method = method or ("GET" if body is None else "POST")
        try:
            answer = await jp_fetch(
                *API,
                *address,
                method=method,
                body=text,
                allow_nonstandard_methods=True,
                request_timeout=PATIENCE_S,
                **options,
            )
        except HTTPClientError as error:
            if error.response is None:
                raise
            answer = error.response
        try:
            return answer.code, json.loads(answer.body)
        except ValueError:
            return answer.code, answer.body.decode()

    return asked


@pytest.fixture
def open_tab(jp_ws_fetch: Any) -> Iterator[Callable[[], Awaitable[Tab]]]:
    """Return what opens a stream to the server."""
    with contextlib.ExitStack() as stack:

        async def opened() -> Tab:
            socket = await jp_ws_fetch(*API, "stream")
            stack.callback(socket.close)
            return Tab(socket)

        yield opened
