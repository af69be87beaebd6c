"""The addresses of the extension, all below ``<base_url>smtc-lab/api/``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join

from smtc_lab.views.server.lab import SETTING, Lab
from smtc_lab.views.server.rest import (
    BundleHandler,
    CatalogHandler,
    InfoHandler,
    RunsHandler,
    StopHandler,
)
from smtc_lab.views.server.set_ups import SetUpsHandler
from smtc_lab.views.server.stream_socket import StreamSocket

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
    from tornado.web import RequestHandler

_NAMED = r"(runs|comparisons)/([A-Za-z0-9-]{1,63})"

ROUTES: tuple[tuple[str, type[RequestHandler]], ...] = (
    ("info", InfoHandler),
    ("catalog", CatalogHandler),
    ("runs", RunsHandler),
    (f"{_NAMED}/stop", StopHandler),
    (f"{_NAMED}/bundle", BundleHandler),
    ("set-ups", SetUpsHandler),
    ("stream", StreamSocket),
)
"""What is answered by whom."""


def add_routes(app: ServerApp) -> None:
    """Let a server answer our addresses."""
    app.web_app.settings[SETTING] = Lab(Path(app.root_dir).expanduser().resolve())
    begin = url_path_join(app.base_url, "smtc-lab", "api")
    app.web_app.add_handlers(  # type: ignore[no-untyped-call]
        ".*$", [(f"{begin}/{address}", handler) for address, handler in ROUTES]
    )
