from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smtc_lab.metrics.parity import FLOORS, ParityTrace, judge, unjudged
from tests.kit.compilers import parity_trace

EAGER = parity_trace()
NOISE = parity_trace(difference=1e-7)


def chaotic(first: float, *, growth: float, steps: int = 12) -> ParityTrace:
    """Return a trace whose loss runs away from eager's by a factor in each step."""
    trace = parity_trace(steps=steps)
    return replace(trace, losses=trace.losses * (1 + first * growth ** np.arange(steps)))


def test_a_difference_like_eagers_own_is_equality() -> None:
    result = judge(parity_trace(difference=2e-7), eager=EAGER, noise=NOISE)

    assert result.equal is True
    assert result.first_step is None
    assert result.verdict.startswith(
        "equal to eager within its own noise: losses differ by 2e-7"
    )
    assert "against 1e-7 of eager with another number of threads" in result.verdict
    assert result.weight_difference == pytest.approx(2e-7, rel=0.5)
    assert result.steps == 8


def test_more_than_eagers_noise_may_still_be_rounding() -> None:
    result = judge(parity_trace(difference=4e-6), eager=EAGER, noise=NOISE)

    assert result.equal is True
    assert "within rounding" in result.verdict


def test_a_wrong_step_is_named_with_the_parameter_that_moved_furthest() -> None:
    norms = EAGER.norms.copy()
    norms[3:, 1] *= 1.05
    losses = EAGER.losses.copy()
    losses[4:] *= 1.01

    result = judge(replace(EAGER, norms=norms, losses=losses), eager=EAGER, noise=NOISE)

    assert result.equal is False
    assert (result.first_step, result.first_parameter) == (3, "layer.bias")
    assert result.verdict.startswith("differs from eager from step 3 on, first in layer.bias:")


def test_wrong_final_weights_are_found_where_the_losses_agree() -> None:
    weights = {**EAGER.weights, "layer.bias": EAGER.weights["layer.bias"] * np.float32(1.01)}

    result = judge(replace(EAGER, weights=weights), eager=EAGER, noise=NOISE)

    assert result.equal is False
    assert result.loss_difference == 0
    assert "losses differ by 0" in result.verdict


def test_a_chaotic_network_is_judged_by_what_eager_makes_of_rounding() -> None:
    eager = parity_trace(steps=12)
    noise = chaotic(1e-7, growth=4.0)
    like = chaotic(5e-7, growth=4.0)

    assert judge(like, eager=eager, noise=noise).equal is True
    assert judge(like, eager=eager, noise=parity_trace(steps=12)).equal is False


def test_a_chaotic_network_still_shows_an_early_error() -> None:
    noise = chaotic(1e-7, growth=4.0)

    result = judge(chaotic(1e-3, growth=4.0), eager=parity_trace(steps=12), noise=noise)

    assert result.equal is False
    assert result.first_step == 0


def test_a_verdict_says_how_few_steps_can_tell_in_a_chaotic_network() -> None:
    noise = chaotic(1e-7, growth=10.0)

    result = judge(noise, eager=parity_trace(steps=12), noise=noise)

    assert "multiplies rounding so much that only its first 5 steps can tell" in result.verdict


def test_a_loss_that_is_not_a_number_is_no_equality() -> None:
    losses = EAGER.losses.copy()
    losses[2:] = np.nan

    result = judge(replace(EAGER, losses=losses), eager=EAGER, noise=NOISE)

    assert result.equal is False
    assert result.first_step == 2
    assert result.loss_difference is None
    assert "differ by a number that is not finite" in result.verdict
    assert type(result).model_validate_json(result.model_dump_json()) == result


def test_an_eager_loss_that_is_not_a_number_cannot_be_judged() -> None:
    losses = EAGER.losses.copy()
    losses[5] = np.inf

    result = judge(EAGER, eager=replace(EAGER, losses=losses))

    assert result.equal is None
    assert result.verdict == "not judged: the eager loss is inf in step 5 already"


def test_without_a_noise_trace_the_floor_decides_and_says_so() -> None:
    floor = FLOORS["highest"]

    assert judge(parity_trace(difference=floor / 2), eager=EAGER).equal is True
    result = judge(parity_trace(difference=2 * floor), eager=EAGER)
    assert result.equal is False
    assert "eager's own noise was not measured, 2e-5 counts as rounding" in result.verdict


def test_lower_precision_may_differ_by_more() -> None:
    candidate = parity_trace(difference=1e-2)

    assert judge(candidate, eager=EAGER, noise=NOISE).equal is False
    assert judge(candidate, eager=EAGER, noise=NOISE, precision="bf16").equal is True


@pytest.mark.parametrize("name", ["layer.weight", "layer.bias"])
def test_a_lost_parameter_is_another_model(name: str) -> None:
    rest = {key: values for key, values in EAGER.weights.items() if key != name}

    result = judge(replace(EAGER, weights=rest), eager=EAGER)

    assert result.equal is False
    assert result.verdict == (
        f"not the same model: 1 parameters are in the eager one only, such as {name}"
    )


def test_a_parameter_of_another_shape_is_another_model() -> None:
    weights = {**EAGER.weights, "layer.bias": np.zeros(5, dtype=np.float32)}

    assert "layer.bias has the shape (5,) rather than (4,)" in (
        judge(replace(EAGER, weights=weights), eager=EAGER).verdict
    )


def test_no_step_cannot_be_judged() -> None:
    assert judge(parity_trace(steps=0), eager=EAGER).equal is None
    assert unjudged("it crashed").verdict == "not judged: it crashed"
