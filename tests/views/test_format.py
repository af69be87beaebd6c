from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.metrics.result import Interval
from smtc_lab.text_table import columns
from smtc_lab.views.text import format as fmt

_UNITS_S = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
_SIZES = st.floats(1e-6, 1e8)


def _value(text: str) -> float:
    return float(text.replace(",", "").replace("\u2212", "-").replace("$", ""))


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        (0.184, "0.184 s"),
        (0.0032, "3.2 ms"),
        (0.62, "0.62 s"),
        (0.0000125, "12.5 µs"),
        (0, "0 s"),
        (90, "90 s"),
        (270, "4.5 min"),
        (9000, "2.5 h"),
        (None, "unknown"),
    ],
)
def test_seconds_have_the_unit_that_suits_them(value_s: float | None, text: str) -> None:
    assert fmt.seconds(value_s) == text


def test_seconds_beside_each_other_share_a_unit() -> None:
    assert [fmt.seconds(value_s, unit="s") for value_s in (0.192, 0.086)] == [
        "0.192 s",
        "0.086 s",
    ]


@given(_SIZES)
def test_seconds_are_true_to_half_a_percent(value_s: float) -> None:
    text, unit = fmt.seconds(value_s).split(" ")

    assert math.isclose(_value(text) * _UNITS_S[unit], value_s, rel_tol=0.0051)


@given(st.floats(1e-9, 1e9))
def test_usd_are_true_to_half_a_percent_and_never_in_scientific_notation(usd: float) -> None:
    text = fmt.usd(usd)

    assert text.startswith("$")
    assert "e" not in text
    assert math.isclose(_value(text), usd, rel_tol=0.0051)


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0.289, "$0.289"),
        (1.2, "$1.20"),
        (45.032, "$45.03"),
        (2010.4, "$2,010"),
        (0.000165, "$0.000165"),
        (-1.5, "\u2212$1.50"),
        (None, "unknown"),
    ],
)
def test_usd_have_three_digits_and_at_least_cents(usd: float | None, text: str) -> None:
    assert fmt.usd(usd) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(3.825, "$3.825/h"), (3.8, "$3.80/h"), (37.688, "$37.688/h"), (None, "unknown")],
)
def test_a_price_keeps_the_digits_of_its_source(usd: float | None, text: str) -> None:
    assert fmt.usd_per_hour(usd) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.74, "74 %"),
        (0, "0 %"),
        (1, "100 %"),
        (0.004, "0.4 %"),
        (0.997, "99.7 %"),
        (-0.12, "\u221212 %"),
        (None, "unknown"),
    ],
)
def test_percent_examples(fraction: float | None, text: str) -> None:
    assert fmt.percent(fraction) == text


@given(st.floats(1e-5, 1 - 1e-5))
def test_a_fraction_between_none_and_all_is_written_as_neither(fraction: float) -> None:
    assert fmt.percent(fraction) not in {"0 %", "100 %", "0.0 %", "100.0 %"}


def test_a_share_near_all_has_no_more_decimals_than_its_interval_needs() -> None:
    nearly = Interval(mean=0.99965, low=0.99914, high=1.0, evidence="measured")

    assert fmt.percent_interval(nearly) == "100.0 % (99.9\u2013100.0)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.00034, "0.00034"), (-1.2e-5, "\u22121.2e-05"), (3e-13, "3e-13"), (1234.0, "1,234")],
)
def test_a_small_number_keeps_three_digits(value: float, text: str) -> None:
    assert fmt.number(value) == text


@given(st.floats(-1e6, 1e6))
def test_a_minus_is_a_true_minus_and_zero_has_none(value: float) -> None:
    for text in (fmt.percent(value), fmt.usd(value), fmt.number(value), fmt.times(value)):
        assert "-" not in text.replace("e-", "")
        assert ("\u2212" in text) == (value < 0 and any(digit in text for digit in "123456789"))


@pytest.mark.parametrize(
    ("ratio", "text"), [(5.83, "5.8\u00d7"), (1.08, "1.08\u00d7"), (31.4, "31\u00d7")]
)
def test_ratios_near_one_have_more_digits(ratio: float, text: str) -> None:
    assert fmt.times(ratio) == text


def test_intervals_have_one_number_of_decimals() -> None:
    interval = Interval(mean=0.18412, low=0.181, high=0.18699)

    assert fmt.seconds_interval(interval) == "0.184 s (0.181\u20130.187)"
    assert fmt.number_interval(interval) == "0.184 (0.181\u20130.187)"
    assert fmt.usd_interval(interval) == "$0.184 (0.181\u20130.187)"
    assert fmt.times_interval(Interval(mean=5.83, low=5.7, high=5.96)) == (
        "5.8\u00d7 (5.7\u20136.0)"
    )


def test_a_tight_interval_gets_the_digits_that_tell_its_ends_apart() -> None:
    tight = Interval(mean=0.184, low=0.1838, high=0.1842)

    assert fmt.seconds_interval(tight) == "0.1840 s (0.1838\u20130.1842)"


def test_an_absurdly_wide_interval_is_not_printed_in_full() -> None:
    wide = Interval(mean=0.5, low=0.002, high=125.0)

    assert fmt.seconds_interval(wide) == "0.500 s (interval unknown: too wide to tell)"
    assert fmt.percent_interval(Interval(mean=0.02, low=0.001, high=0.12)) == "2 % (0\u201312)"


def test_an_interval_below_zero_reads_without_a_double_dash() -> None:
    interval = Interval(mean=0.01, low=-0.02, high=0.04)

    assert fmt.percent_interval(interval) == "1 % (\u22122 to 4)"


@given(mean=_SIZES, below=st.floats(0, 0.5), above=st.floats(0, 0.5))
def test_an_interval_holds_its_mean_as_written(mean: float, below: float, above: float) -> None:
    text = fmt.number_interval(
        Interval(mean=mean, low=mean * (1 - below), high=mean * (1 + above))
    )
    head, _, rest = text.partition(" (")
    low, _, high = rest.removesuffix(")").partition("\u2013")

    assert _value(low) <= _value(head) <= _value(high)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_unknown(value: float | None) -> None:
    for write in (fmt.seconds, fmt.usd, fmt.usd_per_hour, fmt.percent, fmt.times, fmt.number):
        assert write(value) == "unknown"


@pytest.mark.parametrize(
    "write",
    [
        fmt.seconds_interval,
        fmt.usd_interval,
        fmt.percent_interval,
        fmt.times_interval,
        fmt.number_interval,
    ],
)
def test_an_interval_that_is_not_known_is_unknown(write: object) -> None:
    assert callable(write)
    assert write(None) == "unknown"
    assert write(Interval(mean=math.nan, low=0, high=1)) == "unknown"
    assert "interval unknown" in write(Interval(mean=1, low=math.nan, high=1))


def test_things_are_counted_in_singular_and_plural() -> None:
    assert fmt.count(1, "launch") == "1 launch"
    assert fmt.count(3, "launch") == "3 launches"
    assert fmt.count(1200, "step") == "1,200 steps"


def test_memory_is_written_in_gib() -> None:
    assert fmt.gib(8 * 2**30) == "8 GiB"


@given(st.text(max_size=60), st.integers(2, 40))
def test_plain_text_is_one_printable_line_that_fits(text: str, width: int) -> None:
    line = fmt.plain(text, width)

    assert line.isprintable()
    assert columns(line) <= width


@given(st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=30))
def test_plain_text_of_letters_stays_as_it_is(text: str) -> None:
    assert fmt.plain(text) == text


def test_plain_text_disarms_terminal_and_direction_controls() -> None:
    assert fmt.plain("a\x1b[31mb\n\u202ec\ud800") == "a\ufffd[31mb \ufffdc\ufffd"


def test_wide_characters_take_two_columns() -> None:
    assert columns("ab\u65e5\u672c") == 6
    assert columns("e\u0301") == 1
