"""The addresses of the extension, all below ``<base_url>smtc-lab/api/``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_server.utils import url_path_join
from tornado.ioloop import IOLoop

from smtc_lab.views.server.lab import SETTING, Lab
from smtc_lab.views.server.many_runs import ComparedRunsHandler, NotesHandler, RunTableHandler
from smtc_lab.views.server.rest import (
    BundleHandler,
    CatalogHandler,
    DeleteHandler,
    InfoHandler,
    PageHandler,
    PutBackHandler,
    RunsHandler,
    StopHandler,
)
from smtc_lab.views.server.set_ups import (
    CalibrationHandler,
    CatalogPlansHandler,
    CompilerLaddersHandler,
    EnvironmentsHandler,
    ForecastHandler,
    ScriptsHandler,
    SetUpsHandler,
    SpotForecastHandler,
)
from smtc_lab.views.server.stream_socket import StreamSocket

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp
    from tornado.web import RequestHandler

_WARM_UP_S = 1.0
_NAMED = r"([a-z][a-z-]{0,39}s)/([A-Za-z0-9-]{1,63})"

ROUTES: tuple[tuple[str, type[RequestHandler]], ...] = (
    ("info", InfoHandler),
    ("catalog", CatalogHandler),
    ("environments", EnvironmentsHandler),
    ("runs", RunsHandler),
    ("table", RunTableHandler),
    ("runs/([A-Za-z0-9-]{1,63})/notes", NotesHandler),
    ("comparison-of-runs", ComparedRunsHandler),
    (f"{_NAMED}/stop", StopHandler),
    (f"{_NAMED}/bundle", BundleHandler),
    (f"{_NAMED}/page", PageHandler),
    (f"{_NAMED}/delete", DeleteHandler),
    ("deletions/([A-Za-z0-9-]{1,63})/undo", PutBackHandler),
    ("set-ups", SetUpsHandler),
    ("forecast", ForecastHandler),
    ("catalog-plans", CatalogPlansHandler),
    ("compiler-ladders", CompilerLaddersHandler),
    ("spot-forecast", SpotForecastHandler),
    ("calibration", CalibrationHandler),
    ("scripts", ScriptsHandler),
    ("stream", StreamSocket),
)
"""What is answered by whom."""


def add_routes(app: ServerApp) -> None:
    """Let a server answer our addresses."""
    lab = Lab(Path(app.root_dir).expanduser().resolve())
    app.web_app.settings[SETTING] = lab
    # behind the server's own start, and before a person has opened the first tab
    IOLoop.current().call_later(_WARM_UP_S, lab.warm_up)
    begin = url_path_join(app.base_url, "smtc-lab", "api")
    app.web_app.add_handlers(  # type: ignore[no-untyped-call]
        ".*$", [(f"{begin}/{address}", handler) for address, handler in ROUTES]
    )
