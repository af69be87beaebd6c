"""Texts that attack whoever shows them: what names, values and errors of others may be."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE_TEXTS: tuple[str, ...] = (
    # markup
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style></title><iframe src=//x>",
    "\"'><svg onload=alert(1)>",
    "</textarea><details open ontoggle=alert(1)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<base href=//x><form action=//x><input autofocus onfocus=alert(1)>",
    "<meta http-equiv=refresh content=0;url=//x>",
    "<link rel=stylesheet href=//x>",
    "<!--<img src=x onerror=alert(1)>-->",
    "<![CDATA[<b>x</b>]]>",
    "<b",
    "&lt;b&gt;&#60;b&#62;",
    "&",
    # attributes
    "' onmouseover='alert(1)",
    '" style="background:url(//x)" onfocus="alert(1)" autofocus="',
    "` onclick=`alert(1)",
    "javascript:alert(1)",
    "data:text/html,<b>x</b>",
    "expression(alert(1));background-image:url(//x)",
    # templates, formulas, terminals, spreadsheets
    "{{7*7}}{% raw %}",
    "${7*7}#{7*7}<%= 7*7 %>",
    "{0.__class__}%s%n%(name)s",
    "$\\frac{1}{0}$ $$\\def\\x{\\x}\\x$$",
    "[x](javascript:alert(1)) ![x](//x/x.png) **x**",
    "\x1b[31mred\x1b]0;title\x07\x1b[2J",
    '=HYPERLINK("//x","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    # code and paths
    "'''\"\"\"\\",
    "'); import os; os.abort() #",
    "$(reboot)`reboot`;reboot|reboot&&reboot",
    "../../../../etc/passwd",
    "__proto__",
    "constructor",
    # characters
    "a\x00b\x01c",
    "one\r\ntwo\u2028three\u2029four\ttabs",
    "\u202egnp.exe\u2066\u200b\ufeff",
    "Z\u0351\u036b\u0343a\u0321\u031b\u0353l\u0321\u0353\u0333go",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u05d0\u05d1 \u0627\u0644",
    "",
    " ",
    "x" * 10_000,
)
"""Each is one text; views show them as text, or what they stand for, and never follow them."""


def markup_of(html: str) -> set[str]:
    """Return the tags that a page has, and the attributes, which begin with ``@``."""
    parser = _Markup()
    parser.feed(html)
    parser.close()
    return parser.found


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {tag, *(f"@{name}" for name, _ in attrs)}
