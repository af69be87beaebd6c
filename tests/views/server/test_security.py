"""Who is let in: every address of the extension, found by walking the server's handlers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from jupyter_server.auth import Authorizer
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from smtc_lab.launchers.run import Run
from smtc_lab.views.server.routes import ROUTES
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from tornado.web import RequestHandler

    from tests.kit.lab_tab import Tab

    Ask = Callable[..., Awaitable[tuple[int, Any]]]
    OpenTab = Callable[[], Awaitable[Tab]]

VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")
EVIL = "https://evil.example"


def handlers(app: Any) -> dict[str, type[RequestHandler]]:
    """Return the handlers of ours by an address that each of them answers."""
    found = {}
    rules = list(app.web_app.default_router.rules)
    while rules:
        rule = rules.pop()
        if hasattr(rule.target, "rules"):
            rules += rule.target.rules
        elif getattr(rule.target, "__module__", "").startswith("smtc_lab"):
            pattern = rule.matcher.regex.pattern.rstrip("$")
            address = pattern.replace("([a-z][a-z-]{0,39}s)", "runs")
            found[re.sub(r"\(\[.*?\)", "train-r1", address)] = rule.target
    return found


class Browser:
    """A page of another site, or of nobody, in front of the server."""

    def __init__(self, client: Any, app: Any) -> None:
        self._client = client
        self._host = client.get_url("").removeprefix("http://")
        self._base_url = app.base_url
        self._token = app.identity_provider.token
        self.headers: dict[str, str] = {}

    def api(self, address: str) -> str:
        return f"{self._base_url}smtc-lab/api/{address}"

    async def log_in(self) -> str:
        """Take the login's cookies, as a browser does, and return the XSRF token."""
        where = f"{self._base_url}api/me?token={self._token}"
        answer = await self._client.fetch(where)
        page = await self._client.fetch(
            f"{self._base_url}login", follow_redirects=False, raise_error=False
        )
        jar = dict(
            cookie.split(";")[0].split("=", 1)
            for each in (answer, page)
            for cookie in each.headers.get_list("Set-Cookie")
        )
        self.headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        return jar["_xsrf"]

    async def status(self, verb: str, address: str, **headers: str) -> int:
        answer = await self._client.fetch(
            address,
            method=verb,
            headers={**self.headers, **headers},
            body=None if verb == "GET" else "{}",
            allow_nonstandard_methods=True,
            follow_redirects=False,
            raise_error=False,
        )
        status: int = answer.code
        return status

    async def socket_status(self, address: str, **headers: str) -> int:
        request = HTTPRequest(
            f"ws://{self._host}{address}", headers={**self.headers, **headers}
        )
        try:
            (await websocket_connect(request)).close()
        except HTTPClientError as error:
            return error.code
        return 101


@pytest.fixture
def browser(http_server_client: Any, jp_serverapp: Any) -> Browser:
    return Browser(http_server_client, jp_serverapp)


@pytest.fixture
def known(browser: Browser, jp_auth_header: dict[str, str]) -> Browser:
    """Return a page that holds the token."""
    browser.headers = jp_auth_header
    return browser


@pytest.fixture
def run(root: Path) -> str:
    return write_run_folder(root, run_records([0.2], state="InProgress")).job_name


def test_every_handler_is_of_the_kind_that_checks_who_asks(jp_serverapp: Any) -> None:
    found = handlers(jp_serverapp)

    assert len(found) == len(ROUTES)
    for handler in found.values():
        is_socket = issubclass(handler, WebSocketMixin) and issubclass(handler, JupyterHandler)
        assert is_socket or issubclass(handler, APIHandler)
        assert handler.auth_resource == "smtc_lab"
        assert "set_default_headers" not in vars(handler)


async def test_nobody_is_let_in_without_a_name(
    browser: Browser, jp_serverapp: Any, run: str
) -> None:
    assert run == "train-r1"
    for address in handlers(jp_serverapp):
        for verb in VERBS:
            assert await browser.status(verb, address) in {401, 403}, (verb, address)
        assert await browser.socket_status(address) in {401, 403}, address


async def test_a_page_of_another_site_is_not_let_in_with_the_users_cookie(
    browser: Browser, jp_serverapp: Any, run: str
) -> None:
    assert run == "train-r1"
    xsrf = await browser.log_in()
    for address, handler in handlers(jp_serverapp).items():
        if issubclass(handler, WebSocketMixin):
            assert await browser.socket_status(address) == 101
            assert await browser.socket_status(address, Origin=EVIL) == 403
            continue
        verb = "GET" if "get" in vars(handler) else "POST"
        refused = await browser.status(verb, address, Origin=EVIL, **{"X-XSRFToken": xsrf})
        assert refused in {403, 404}, address


async def test_what_changes_something_needs_the_pages_own_token(
    browser: Browser, jp_serverapp: Any, run: str
) -> None:
    assert run == "train-r1"
    xsrf = await browser.log_in()
    posted = [
        address
        for address, handler in handlers(jp_serverapp).items()
        if "post" in vars(handler)
    ]

    assert len(posted) == 13
    for address in posted:
        assert await browser.status("POST", address) == 403
        # let in, and refused for what it says
        known = await browser.status("POST", address, **{"X-XSRFToken": xsrf})
        assert known in {400, 409}, address


async def test_a_name_that_only_looks_like_this_server_is_refused(
    browser: Browser, jp_serverapp: Any, jp_auth_header: dict[str, str]
) -> None:
    for address, handler in handlers(jp_serverapp).items():
        headers = {**jp_auth_header, "Host": "evil.example"}
        verb = "GET" if "get" in vars(handler) else "POST"
        assert await browser.status(verb, address, **headers) == 403, address
        assert await browser.socket_status(address, **headers) in {403, 405}, address


class ReadOnly(Authorizer):
    """Lets everybody look, and nobody start or stop."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:  # noqa: ARG002
        return resource != "smtc_lab" or action == "read"


class Closed(Authorizer):
    """Keeps everybody away from us."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:  # noqa: ARG002
        return resource != "smtc_lab"


async def test_a_user_without_the_right_to_execute_may_look_and_not_stop(
    ask: Ask,
    open_tab: OpenTab,
    run: str,
    jp_serverapp: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Run, "open", lambda _: pytest.fail("it was to be stopped"))
    jp_serverapp.web_app.settings["authorizer"] = ReadOnly()

    assert (await ask("runs"))[0] == 200
    assert (await ask("runs", body={}))[0] == 403
    assert (await ask("runs", run, "stop", body={}))[0] == 403
    assert (await ask("runs", run, "delete", body={}))[0] == 403
    tab = await open_tab()
    await tab.watch(1, "run-monitor", run)
    await tab.say(1, type="stop")
    await tab.until(lambda tab: tab.values[1].get("stop_problem"))

    assert tab.values[1]["stop_problem"].startswith("You may not stop runs on this server.")
    await tab.say(1, type="interrupt")
    await tab.until(lambda tab: tab.values[1].get("interrupt_problem"))
    assert tab.values[1]["interrupt_problem"].startswith("You may not interrupt runs on this")
    await tab.say(1, type="resume")
    await tab.until(lambda tab: tab.values[1].get("resume_problem"))
    assert tab.values[1]["resume_problem"].startswith("You may not resume runs on this")


async def test_a_user_without_any_right_sees_nothing(
    browser: Browser, jp_serverapp: Any, jp_auth_header: dict[str, str], run: str
) -> None:
    assert run == "train-r1"
    jp_serverapp.web_app.settings["authorizer"] = Closed()

    for address, handler in handlers(jp_serverapp).items():
        if issubclass(handler, WebSocketMixin):
            assert await browser.socket_status(address, **jp_auth_header) == 403
            continue
        verb = "GET" if "get" in vars(handler) else "POST"
        assert await browser.status(verb, address, **jp_auth_header) == 403, address


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../runs-evil/train-r1",
        "%2e%2e/runs-evil/train-r1",
        "..%2fruns-evil%2ftrain-r1",
        "%2fetc",
        "\\\\host\\share",
        "train-r1%00",
        "train-r1/",
        "-train",
        "a" * 64,
        "link",
        "<img>",
    ],
)
async def test_a_name_reaches_no_folder_but_those_of_runs(
    known: Browser, open_tab: OpenTab, root: Path, run: str, name: str
) -> None:
    evil = write_run_folder(root.parent / "runs-evil", run_records([0.2]))
    (root / "link").symlink_to(evil.path)

    assert run == "train-r1"
    assert await known.status("GET", known.api(f"runs/{name}/bundle")) in {400, 404}
    assert await known.status("POST", known.api(f"runs/{name}/stop")) in {400, 404}
    assert await known.status("POST", known.api(f"runs/{name}/delete")) in {400, 404}
    assert await known.status("POST", known.api(f"deletions/{name}/undo")) in {400, 404, 409}
    assert evil.job_file.is_file()
    tab = await open_tab()
    await tab.watch(1, "run-monitor", name)
    await tab.watch(2, "runs")
    await tab.until(lambda tab: tab.problems and tab.rows)
    assert tab.problems[0][1].startswith("There is no run named")
    assert set(tab.rows) == {"train-r1"}


async def test_the_token_is_in_no_answer(
    ask: Ask, open_tab: OpenTab, jp_serverapp: Any, run: str
) -> None:
    token = jp_serverapp.identity_provider.token
    told = [await ask("info"), await ask("runs"), await ask("runs", "none", "stop", body={})]
    tab = await open_tab()
    await tab.watch(1, "run-monitor", run)
    await tab.until(lambda tab: tab.values[1])

    assert token not in json.dumps([told, tab.values[1]])
