"""The server extension: runs, comparisons and their live views for JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.version import (
    __version__ as __version__,  # what `jupyter server extension list` shows
)

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "smtc_lab.views.server"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    # not before a server asks: a kernel that imports the views needs no server
    from smtc_lab.views.server.routes import add_routes  # noqa: PLC0415

    add_routes(app)
