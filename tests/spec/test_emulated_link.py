"""A declared network, and the line that says it in a terminal and in a form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import SpecError
from smtc_lab.spec.emulation import EmulatedLink, Emulation

GBPS = st.one_of(st.none(), st.integers(1, 10**6).map(lambda mbit: mbit / 1000))
LATENCY_S = st.integers(0, 10**7).map(lambda tenths: tenths / 1e7)


@given(
    st.builds(
        EmulatedLink,
        between_gbps=GBPS,
        between_latency_s=LATENCY_S,
        inside_gbps=GBPS,
        inside_latency_s=LATENCY_S,
    )
)
def test_a_network_is_read_from_the_line_that_it_is_written_as(link: EmulatedLink) -> None:
    read = EmulatedLink.parse(str(link))

    assert read.between_gbps == link.between_gbps
    assert read.between_latency_s == pytest.approx(link.between_latency_s)
    if link.inside_gbps is not None:  # without it the latency inside is without effect
        assert read.inside_gbps == link.inside_gbps
        assert read.inside_latency_s == pytest.approx(link.inside_latency_s)


def test_a_line_may_leave_out_what_is_the_default_and_choose_its_units() -> None:
    assert EmulatedLink.parse("between=50Mbit") == EmulatedLink(between_gbps=0.05)
    assert EmulatedLink.parse("between=catalog/1ms") == EmulatedLink(between_latency_s=1e-3)
    assert EmulatedLink.parse(" inside = 8 gbit / 20 µs , between=1Gbit/0.1ms") == EmulatedLink(
        inside_gbps=8.0, inside_latency_s=2e-5, between_gbps=1.0, between_latency_s=1e-4
    )


def test_an_emulation_takes_the_line_in_the_place_of_the_network() -> None:
    of_line = Emulation.model_validate({"link": "between=1Gbit/100us"})

    assert of_line.link == EmulatedLink(between_gbps=1.0, between_latency_s=1e-4)
    assert Emulation.from_json(of_line.to_json()) == of_line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "'' names neither the network inside= nor that between="),
        ("across=1Gbit", "'across=1Gbit' names neither"),
        ("between=1", "between has '1' where a bandwidth belongs"),
        ("inside=catalog", "inside has 'catalog' where a bandwidth belongs"),
        ("between=1Gbit/5", "between has '5' where a latency belongs"),
        ("between=1Gbit,between=2Gbit", "between= stands there twice"),
    ],
)
def test_a_line_that_is_not_legal_is_refused_with_an_example(line: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        Emulation.model_validate({"link": line})

    assert message in str(refused.value)
    assert "Write for example inside=10Gbit/20us,between=1Gbit/100us." in str(refused.value)


def test_a_bandwidth_of_nothing_is_refused_in_a_line_too() -> None:
    with pytest.raises(SpecError, match=r"EmulatedLink.between_gbps=0.0 must be above 0"):
        EmulatedLink.parse("between=0Gbit")
