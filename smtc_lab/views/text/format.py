"""How numbers and names are written for people. Every view writes them through this file.

In the examples of these docstrings ``x`` stands for the multiplication sign and the hyphen in
an interval for an en dash.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeGuard

from smtc_lab.text_table import columns

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import GroupResult
    from smtc_lab.metrics.result import Interval
    from smtc_lab.spec.cluster import InstanceGroup

TIMES = "\u00d7"
"""The multiplication sign."""

UNKNOWN = "unknown"
"""What stands for a number that is not known. Never 0, never empty."""

ONE_VALUE = "(one value)"
"""What stands behind a number that has no interval, as it is one value."""

_STATES = {"Pending": "Starting", "InProgress": "Running"}

TimeUnit = Literal["h", "min", "s", "ms", "µs"]
"""Units that times are written in."""

_PER_SECOND: dict[TimeUnit, float] = {
    "h": 1 / 3600,
    "min": 1 / 60,
    "s": 1,
    "ms": 1e3,
    "µs": 1e6,
}
_DIGITS = 3
_MAX_DECIMALS = 12
_LEAST_FIXED = 1e-4
_WIDEST = 100.0
_LONGEST = 2000
_TOO_WIDE = "too wide to tell"


class _Scale(NamedTuple):
    """A unit, and how many of it make one of the base unit."""

    factor: float
    suffix: str


def state_word(state: str) -> str:
    """Return the word that people read for a state in SageMaker's spelling."""
    return _STATES.get(state, state)


def seconds(value_s: float | None, *, unit: TimeUnit | None = None) -> str:
    """Return a time for people: ``0.184 s``, ``3.2 ms``, ``4.5 min``.

    ``unit`` is for times that stand beside each other; None: the unit that suits the time.
    """
    if not _is_known(value_s):
        return UNKNOWN
    scale = _time_scale(value_s, unit)
    return f"{_short(value_s * scale.factor)} {scale.suffix}"


def usd(value_usd: float | None) -> str:
    """Return an amount in USD with three significant digits: ``$0.289``, ``$1.20``."""
    if not _is_known(value_usd):
        return UNKNOWN
    return _with_dollar(_fixed(value_usd, _usd_decimals(value_usd)))


def usd_per_hour(value_usd: float | None) -> str:
    """Return a price with all the digits that its source has: ``$3.825/h``."""
    if not _is_known(value_usd):
        return UNKNOWN
    return f"{_with_dollar(price_digits(value_usd))}/h"


def price_digits(value_usd: float | None) -> str:
    """Return a price without its unit, at least two decimals and at most six: ``3.825``."""
    if not _is_known(value_usd):
        return UNKNOWN
    whole, _, decimals = _fixed(value_usd, 6).partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


def percent(fraction: float | None) -> str:
    """Return a fraction as a percentage: ``74 %``.

    Decimals appear where whole numbers would say 0 or 100 and the value is neither: ``0.4 %``,
    ``99.7 %``.
    """
    if not _is_known(fraction):
        return UNKNOWN
    return f"{_fixed(100 * fraction, _percent_decimals(fraction))} %"


def times(ratio: float | None) -> str:
    """Return a ratio: ``5.8x``, ``1.08x``, ``31x``."""
    if not _is_known(ratio):
        return UNKNOWN
    return f"{_fixed(ratio, _ratio_decimals(ratio))}{TIMES}"


def number(value: float | None) -> str:
    """Return a number with at most three significant digits: ``0.00034``, ``1.2e-05``.

    Whole ones stand in full: ``1,234``.
    """
    if not _is_known(value):
        return UNKNOWN
    if 0 < abs(value) < _LEAST_FIXED:
        return f"{value:.{_DIGITS}g}".replace("-", "\u2212", value < 0)
    return _short(value)


def seconds_interval(interval: Interval | None, *, unit: TimeUnit | None = None) -> str:
    """Return a mean time with its interval: ``0.184 s (0.181-0.187)``."""
    if interval is None or not _is_known(interval.mean):
        return UNKNOWN
    scale = _time_scale(interval.mean, unit)
    scaled = interval.scaled(scale.factor)
    return _interval(scaled, _decimals(scaled.mean), suffix=f" {scale.suffix}")


def usd_interval(interval: Interval | None, *, symbol: bool = True) -> str:
    """Return a mean amount with its interval: ``$0.289 (0.284-0.294)``."""
    if interval is None or not _is_known(interval.mean):
        return UNKNOWN
    text = _interval(interval, _usd_decimals(interval.mean))
    return _with_dollar(text) if symbol else text


def percent_interval(interval: Interval | None) -> str:
    """Return a mean fraction with its interval: ``74 % (72-75)``."""
    if interval is None or not _is_known(interval.mean):
        return UNKNOWN
    decimals = min(1, _percent_decimals(interval.mean))
    return _interval(interval.scaled(100), decimals, suffix=" %")


def times_interval(interval: Interval | None) -> str:
    """Return a mean ratio with its interval: ``5.8x (5.7-5.9)``."""
    if interval is None or not _is_known(interval.mean):
        return UNKNOWN
    return _interval(interval, _ratio_decimals(interval.mean), suffix=TIMES)


def number_interval(interval: Interval | None) -> str:
    """Return a mean with its interval, without a unit: ``0.184 (0.181-0.187)``."""
    if interval is None or not _is_known(interval.mean):
        return UNKNOWN
    return _interval(interval, _decimals(interval.mean))


def gib(num_bytes: float) -> str:
    """Return an amount of memory in GiB (2**30 bytes): ``23.4 GiB``."""
    return f"{_short(num_bytes / 2**30)} GiB"


def cores(value: float | None) -> str:
    """Return a number of CPU cores: ``1 core``, ``0.5 cores``."""
    told = number(value)
    return f"{told} {'core' if told == '1' else 'cores'}"


def count(num: int, singular: str) -> str:
    """Return a number of things: ``1 launch``, ``3 launches``, ``1,200 steps``."""
    plural = f"{singular}es" if singular.endswith(("ch", "s", "x")) else f"{singular}s"
    return f"{num:,} {singular if num == 1 else plural}"


def instances(group: GroupResult | InstanceGroup) -> str:
    """Return what a group consists of: ``1 x ml.p3.2xlarge``."""
    return f"{group.instance_count} {TIMES} {plain(group.instance_type)}"


def plain(text: str, max_width: int | None = None) -> str:
    """Return text on one line, with nothing in it that a terminal or a reader would obey.

    Args:
        text: Anything, also with line ends, control characters or unpaired surrogates.
        max_width: Terminal columns that the result may take, at least 2; None: any.

    Returns:
        The text with U+FFFD for each unprintable character, cut with ``…`` when too wide.
    """
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    if max_width is None or columns(line) <= max_width:
        return line
    while columns(line) > max_width - 1:
        line = line[:-1]
    return f"{line.rstrip()}…"


def brief(text: str) -> str:
    """Return a text of at most 2,000 characters on one line, as ``plain`` does."""
    return plain(_begin(text))


def brief_lines(text: str) -> str:
    """Return a text of at most 2,000 characters, each of its lines as ``plain`` does."""
    return "\n".join(map(plain, _begin(text).splitlines()))


def _begin(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _is_known(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _time_scale(value_s: float, unit: TimeUnit | None) -> _Scale:
    name = _suitable_unit(abs(value_s)) if unit is None else unit
    return _Scale(_PER_SECOND[name], name)


def _suitable_unit(size_s: float) -> TimeUnit:
    if size_s == 0 or 0.1 <= size_s < 120:
        return "s"
    if size_s >= 120:
        return "h" if size_s >= 7200 else "min"
    return "ms" if size_s >= 1e-3 else "µs"


def _decimals(value: float) -> int:
    """Return the decimals that show three significant digits."""
    if value == 0:
        return 0
    exponent = int(f"{abs(value):.{_DIGITS - 1}e}".partition("e")[2])
    return min(_MAX_DECIMALS, max(0, _DIGITS - 1 - exponent))


def _usd_decimals(value_usd: float) -> int:
    if abs(value_usd) >= 100:
        return 0
    return max(2, _decimals(value_usd))


def _percent_decimals(fraction: float) -> int:
    nearest = round(fraction * 100)
    if nearest in {0, 100, -100} and not math.isclose(100 * fraction, nearest, abs_tol=1e-4):
        return 1 if abs(100 * fraction - nearest) >= 0.05 else 3
    return 0


def _ratio_decimals(ratio: float) -> int:
    size = abs(ratio)
    if size >= 10:
        return 0
    return 1 if size >= 2 else 2


def _fixed(value: float, decimals: int) -> str:
    """Return the value with so many decimals, a true minus sign and no minus zero."""
    text = f"{abs(value):,.{decimals}f}"
    is_zero = not text.strip("0.,")
    return text if value >= 0 or is_zero else f"\u2212{text}"


def _short(value: float) -> str:
    text = _fixed(value, _decimals(value))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _with_dollar(text: str) -> str:
    return f"\u2212${text[1:]}" if text.startswith("\u2212") else f"${text}"


def _interval(interval: Interval, decimals: int, *, suffix: str = "") -> str:
    """Write the three numbers with the same decimals, enough to tell the ends apart."""
    if interval.spread == "none":
        return f"{_fixed(interval.mean, decimals)}{suffix} {ONE_VALUE}"
    if not (_is_known(interval.low) and _is_known(interval.high)):
        return f"{_fixed(interval.mean, decimals)}{suffix} (interval {UNKNOWN})"
    is_share = suffix == " %"  # a share of 0.1 to 12 % is told by its upper end
    if interval.low > 0 and interval.high > _WIDEST * interval.low and not is_share:
        return f"{_fixed(interval.mean, decimals)}{suffix} (interval {UNKNOWN}: {_TOO_WIDE})"
    widest = min(_MAX_DECIMALS, decimals + 2)
    while (
        interval.low < interval.high
        and decimals < widest
        and _fixed(interval.low, decimals) == _fixed(interval.high, decimals)
    ):
        decimals += 1
    mean, low, high = (
        _fixed(value, decimals) for value in (interval.mean, interval.low, interval.high)
    )
    dash = " to " if "\u2212" in low + high else "\u2013"
    alone = " in 1 launch" if interval.spread == "steps" else ""
    return f"{mean}{suffix} ({low}{dash}{high}{alone})"
