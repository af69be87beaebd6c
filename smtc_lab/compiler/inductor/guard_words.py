"""Says in words which guard of compiled code failed."""

from __future__ import annotations

import re

_SIZE = re.compile(
    r"tensor '(.+?)' size mismatch at index (\d+)\. expected (\d+), actual (\d+)"
)
_STRIDE = re.compile(
    r"tensor '(.+?)' stride mismatch at index (\d+)\. expected (\d+), actual (\d+)"
)
_OTHER = re.compile(r"tensor '(.+?)' (.+?) mismatch\. expected (.+?), actual ([^.]+)")
_BOUND = re.compile(r"\s*(\d+) <= (.+?)\.size\(\)\[(\d+)\](?: <= (\d+))?")
_EQUAL = re.compile(r"(.+?) == (.+)")
_TYPE = re.compile(r"___check_type_id\((.+?), \d+\)")
_OBJECT = re.compile(r"___check_obj_id\((.+?), \d+\)")
_LENGTH = re.compile(r"len\((.+?)\) == (\d+)")
_GLOBAL = re.compile(r"GLOBAL_STATE changed: (.+)")
_LOCAL = re.compile(r"L\['(\w+)'\]")
_COMPILE_ID = re.compile(r"^(?:\[?\d+/\d+\]?: )")
_CODE = re.compile(r"\s+# .*", re.DOTALL)
_MOST_CHARACTERS = 200


def guard_in_words(reason: str) -> str:
    """Return the cause of a recompilation, such as ``x.size(1): 36 -> 41``.

    Args:
        reason: What torch says of the guard that failed: ``recompile_reason`` of its
            compilation metrics. A form that is not known is returned as it is, shortened.
    """
    guard = _LOCAL.sub(r"\1", _CODE.sub("", _COMPILE_ID.sub("", reason.strip()))).strip()
    for form, words in _FORMS:
        match = form.match(guard)
        if match:
            return words.format(*match.groups())[:_MOST_CHARACTERS]
    bound = _BOUND.match(guard)
    if bound:
        low, name, axis, high = bound.groups()
        limits = f"{low} to {high}" if high else f"{low} or more"
        return f"{name}.size({axis}) is not {limits}"
    return guard.splitlines()[0][:_MOST_CHARACTERS] if guard else "not known"


_FORMS = (
    (_SIZE, "{0}.size({1}): {2} -> {3}"),
    (_STRIDE, "{0}.stride({1}): {2} -> {3}"),
    (_OTHER, "{0}.{1}: {2} -> {3}"),
    (_TYPE, "{0} is of another type"),
    (_OBJECT, "{0} is another object"),
    (_LENGTH, "len({0}) is not {1} any more"),
    (_EQUAL, "{0} is not {1} any more"),
    (_GLOBAL, "changed: {0}"),
)
