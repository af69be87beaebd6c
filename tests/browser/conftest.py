"""What browser tests share: Chromium, our built wheel in an environment, a Jupyter server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.lab_kit import Runs, language_pack, lent
from tests.browser.lives_kit import Home
from tests.browser.wheel_env import built_wheel, wheel_environment
from tests.kit.browser.chromium import CHROMIUM_VARIABLE, chromium, running_browser
from tests.kit.browser.jupyter import running_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.is_relative_to(_folder(config))]
    for item in here:
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.timeout(180))
        if chromium() is None:
            item.add_marker(pytest.mark.skip(reason=f"no Chromium; see {CHROMIUM_VARIABLE}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if chromium() is None:
        terminalreporter.write_sep("!", "NO CHROMIUM: BROWSER TESTS WERE NOT RUN", red=True)
        terminalreporter.write_line(
            f"Install one (Debian: apt-get install chromium), or set {CHROMIUM_VARIABLE} to "
            "its path. Nothing was seen of what users see."
        )


def _folder(config: pytest.Config) -> Path:
    return config.rootpath / "tests" / "browser"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def lab_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the python of an environment with the wheel, which nobody changes."""
    return wheel_environment(wheel, tmp_path_factory.mktemp("environment") / "venv")


# Of the package, not of the session: tests elsewhere look at all processes that this one has
# started, and run event loops of their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as launched:
        yield launched


@pytest.fixture(scope="package")
def shared_server(
    lab_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    yield from _serving(lab_python, tmp_path_factory.mktemp("jupyter"))


@pytest.fixture(scope="package")
def shared_german(
    lab_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("german")
    language_pack(folder)
    yield from _serving(lab_python, folder)


def _serving(python: Path, folder: Path) -> Iterator[Server]:
    (folder / "notebooks").mkdir()
    with running_server(python, folder / "notebooks", home=folder) as running:
        yield running


@pytest.fixture(scope="module")
def server(shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that no other module seems to have used."""
    with lent(shared_server, tmp_path_factory.mktemp("past")) as mine:
        yield mine


@pytest.fixture(scope="module")
def german_server(
    shared_german: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Return another one, whose user has a German language pack."""
    with lent(shared_german, tmp_path_factory.mktemp("past")) as mine:
        yield mine


@pytest.fixture(scope="module")
def home(lab_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp("jupyter")
    (folder / "notebooks").mkdir()
    made = Home(lab_python, folder)
    Runs(made.server).script()
    yield made
    made.stop_all()
    made.stop_server()


@pytest.fixture(autouse=True)
def _no_request_leaves_the_machine(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "server" in request.fixturenames:
        strangers = request.getfixturevalue("server").strangers
        assert strangers == [], "a page asked another machine"
