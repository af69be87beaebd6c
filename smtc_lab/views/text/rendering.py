"""HTML from templates. Names and messages are always text, never markup."""

from __future__ import annotations

import base64
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from smtc_lab.views.text.column_widths import column_widths
from smtc_lab.views.text.format import plain


def render(template: str, **values: object) -> str:
    """Return a template of ``views/templates`` filled with values, each of them escaped."""
    return _environment().get_template(template).render(values)


def png_uri(data: bytes) -> Markup:
    """Return an image as a ``data:`` address; base64 holds nothing that needs escaping."""
    return Markup("data:image/png;base64,") + base64.b64encode(data).decode("ascii")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("smtc_lab.views"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_readable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["column_widths"] = column_widths
    return environment


def _readable(value: object) -> object:
    """Drop what is no character of a page, and keep numbers and their ``%`` on one line."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return plain(value).replace(" %", "\u00a0%")
