"""The words of a line that is still being typed."""

from __future__ import annotations

import shlex

_CURSOR = "\0"


def words_until(text: str) -> list[str]:
    """Return the words of a line up to the cursor; the last one is the one being typed.

    An open quote is no error, and the last word is empty behind a space. Without any word the
    list holds an empty one.
    """
    for closing in ("", '"', "'"):
        try:
            words = shlex.split(text + _CURSOR + closing)
        except ValueError:
            continue
        return [word.replace(_CURSOR, "") for word in words]
    return text.split(" ")
