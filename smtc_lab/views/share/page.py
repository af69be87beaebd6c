"""Puts a result and the front end that draws it into the text of one HTML page.

Everything of a result is data: texts that are escaped, and JSON in which no character can end
its script. The page's own policy runs one script, known by its hash, and lets nothing be loaded
or sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from smtc_lab.errors import ViewError
from smtc_lab.neutral_text import neutral
from smtc_lab.version import __version__
from smtc_lab.views.share.thinned import can_be_thinned, thinned
from smtc_lab.views.text.rendering import render
from smtc_lab.views.widgets.base import built_front_end

if TYPE_CHECKING:
    from datetime import datetime

    from smtc_lab.views.share.shared import Shared

MOST_BYTES = 1_500_000
"""Size of a file at most: what a chat shows and a mail server takes."""

THINNED = "Its curves have fewer points than in the lab, so that this file is small; each "
THINNED += "point keeps its least and greatest value."
BARE = "Its curves are left out: with them this file would be too large."

_LONGEST_TEXT = 100_000
_ESCAPED = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


@dataclass(frozen=True, kw_only=True)
class _Fitted:
    """What is saved of a result, small enough."""

    json: str
    """As a script's text."""

    note: str
    """What was done to make it so; empty: nothing."""


def page(told: Shared, *, at: datetime, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of the page.

    Args:
        told: What it shows.
        at: When it is saved, with its time zone.
        most_bytes: Size of the page in UTF-8 at most.

    Raises:
        ViewError: The front end was not built, or the result is too large even without curves.
    """
    text = neutral(told.text, longest=_LONGEST_TEXT)
    bare = _filled(told, text, at=at, fitted=_Fitted(json="", note=THINNED))
    room = most_bytes - len(bare.encode())
    fitted = _fitted(told, text, room=room)
    if fitted is None:
        raise ViewError(
            f"The {told.kind} {told.name[:80]!r} makes a file of more than "
            f"{most_bytes / 1e6:g} MB, even without its curves. Share one of its runs instead, "
            "or save its numbers as JSON."
        )
    return _filled(told, text, at=at, fitted=fitted)


def json_in_script(value: Any) -> str:  # noqa: ANN401  any JSON value
    """Return JSON that can stand in a script of a page, whatever its texts are."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return plain.translate(_ESCAPED)


def _fitted(told: Shared, text: str, *, room: int) -> _Fitted | None:
    """Return what is saved in so many bytes; None: there is no way."""
    saved, note = told.saved, ""
    while True:
        written = json_in_script({"saved": saved, "text": text})
        if len(written) <= room:  # it is ASCII
            return _Fitted(json=written, note=note)
        tables = saved.get("tables")
        if not tables:
            return None
        if can_be_thinned(tables):
            saved, note = {**saved, "tables": thinned(tables)}, THINNED
        else:
            saved, note = {**saved, "tables": {}}, BARE


def _filled(told: Shared, text: str, *, at: datetime, fitted: _Fitted) -> str:
    code = built_front_end("share.js").replace("\r\n", "\n")
    _refuse_markup(code)
    styles = built_front_end("widget.css").replace("\r\n", "\n")
    _refuse_markup(styles)
    return render(
        "share.html.j2",
        told=told,
        made="" if told.made is None else _date(told.made),
        saved_at=_date(at),
        version=__version__,
        note=fitted.note,
        text=Markup("\n") + escape(text),
        json=Markup(fitted.json),  # noqa: S704  nothing in it can end its script
        styles=Markup(styles),  # noqa: S704  our own
        code=Markup(code),  # noqa: S704  our own
        policy=_policy(code),
    )


def _policy(code: str) -> str:
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode("ascii")
    parts = (
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",  # views set colours and heights of single elements
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(parts)


def _refuse_markup(text: str) -> None:
    """Refuse a file of ours that would end its element, or begin a comment, in a page."""
    low = text.lower()
    for end in ("</script", "</style", "<!--"):
        if end in low:
            raise ViewError(
                f"The built front end holds {end!r}, which a page cannot. Run 'make front', or "
                "install a release."
            )


def _date(moment: datetime) -> str:
    """Return a time for people: ``24 November 2026, 01:30 UTC``."""
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()
