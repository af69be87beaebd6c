from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from smtc_lab.metrics.parity import judge, unjudged
from smtc_lab.metrics.parity_trace import FLOORS, ParityTrace
from tests.kit.compilers import parity_trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.kit.golden_texts import GoldenTexts

EAGER = parity_trace()
NOISE = parity_trace(difference=1e-7)


def chaotic(first: float, *, growth: float, steps: int = 12) -> ParityTrace:
    """Return a trace whose loss runs away from eager's by a factor in each step."""
    trace = parity_trace(steps=steps)
    return replace(trace, losses=trace.losses * (1 + first * growth ** np.arange(steps)))


def with_losses(value: float, *, begin: int, trace: ParityTrace = EAGER) -> ParityTrace:
    losses = trace.losses.copy()
    losses[begin:] = value
    return replace(trace, losses=losses)


def wrong_step() -> ParityTrace:
    norms, losses = EAGER.norms.copy(), EAGER.losses.copy()
    norms[3:, 1] *= 1.05
    losses[4:] *= 1.01
    return replace(EAGER, norms=norms, losses=losses)


def with_bias(values: NDArray[np.float32] | None) -> ParityTrace:
    """Return eager's trace with another last weight; None: without it."""
    weights = {name: each for name, each in EAGER.weights.items() if name != "layer.bias"}
    return replace(EAGER, weights=weights | ({} if values is None else {"layer.bias": values}))


BIAS = EAGER.weights["layer.bias"]
LONG = parity_trace(steps=12)
NEAR = {"eager": EAGER, "noise": NOISE}
CASES: dict[str, tuple[ParityTrace, dict[str, Any], bool | None, int | None]] = {
    "like eager's own noise": (parity_trace(difference=2e-7), NEAR, True, None),
    "more than noise, within rounding": (parity_trace(difference=4e-6), NEAR, True, None),
    "a wrong step": (wrong_step(), NEAR, False, 3),
    "wrong final weights, losses agree": (
        with_bias(BIAS * np.float32(1.01)),
        NEAR,
        False,
        None,
    ),
    "chaos like eager's": (
        chaotic(5e-7, growth=4.0),
        {"eager": LONG, "noise": chaotic(1e-7, growth=4.0)},
        True,
        None,
    ),
    "chaos, eager has none": (
        chaotic(5e-7, growth=4.0),
        {"eager": LONG, "noise": LONG},
        False,
        3,
    ),
    "an early error in chaos": (
        chaotic(1e-3, growth=4.0),
        {"eager": LONG, "noise": chaotic(1e-7, growth=4.0)},
        False,
        0,
    ),
    "chaos in which few steps can tell": (
        chaotic(1e-7, growth=10.0),
        {"eager": LONG, "noise": chaotic(1e-7, growth=10.0)},
        True,
        None,
    ),
    "a loss that is no number": (with_losses(np.nan, begin=2), NEAR, False, 2),
    "an eager loss that is no number": (
        EAGER,
        {"eager": with_losses(np.inf, begin=5)},
        None,
        None,
    ),
    "no noise trace, within the floor": (
        parity_trace(difference=FLOORS["highest"] / 2),
        {"eager": EAGER},
        True,
        None,
    ),
    "no noise trace, beyond the floor": (
        parity_trace(difference=2 * FLOORS["highest"]),
        {"eager": EAGER},
        False,
        0,
    ),
    "too far for fp32": (parity_trace(difference=1e-2), NEAR, False, 0),
    "near enough for bf16": (
        parity_trace(difference=1e-2),
        {**NEAR, "precision": "bf16"},
        True,
        None,
    ),
    "a lost parameter": (with_bias(None), {"eager": EAGER}, False, 0),
    "a parameter of another shape": (
        with_bias(np.zeros(5, dtype=np.float32)),
        {"eager": EAGER},
        False,
        0,
    ),
    "no step": (parity_trace(steps=0), {"eager": EAGER}, None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_trace_is_judged_to_be(golden_texts: GoldenTexts, case: str) -> None:
    trace, by, equal, first_step = CASES[case]

    result = judge(trace, **by)

    assert (result.equal, result.first_step) == (equal, first_step)
    assert type(result).model_validate_json(result.model_dump_json()) == result
    golden_texts("parity", {"verdict": result.verdict})


def test_a_judgement_has_its_numbers() -> None:
    like = judge(parity_trace(difference=2e-7), eager=EAGER, noise=NOISE)
    wrong = judge(wrong_step(), eager=EAGER, noise=NOISE)

    assert like.weight_difference == pytest.approx(2e-7, rel=0.5)
    assert like.steps == 8
    assert wrong.first_parameter == "layer.bias"
    assert judge(with_bias(BIAS * np.float32(1.01)), eager=EAGER).loss_difference == 0
    assert judge(with_losses(np.nan, begin=2), eager=EAGER).loss_difference is None
    assert unjudged("it crashed").verdict == "not judged: it crashed"
