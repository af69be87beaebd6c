from __future__ import annotations

import pytest

from smtc_lab.metrics.batch.learning_rate import default_rule, scaled_learning_rate


@pytest.mark.parametrize(
    ("optimizer", "rule"),
    [("SGD", "linear"), ("torch.optim.SGD", "linear"), ("AdamW", "sqrt"), ("Adadelta", "sqrt")],
)
def test_the_rule_suits_the_optimizer(optimizer: str, rule: str) -> None:
    assert default_rule(optimizer) == rule


def test_sgd_follows_the_batch_and_adam_its_square_root() -> None:
    sgd = scaled_learning_rate(0.1, batch_size=64, new_batch_size=256, optimizer="SGD")
    adam = scaled_learning_rate(0.1, batch_size=64, new_batch_size=256)

    assert sgd.learning_rate == pytest.approx(0.4)
    assert adam.learning_rate == pytest.approx(0.2)
    assert "Goyal et al. 2017" in sgd.reason
    assert "suggestion" in adam.reason


def test_the_documented_example_of_sagemaker_comes_out() -> None:
    # 5e-5 for 16 samples on one GPU; 26 samples on each of 4
    found = scaled_learning_rate(5e-5, batch_size=16, new_batch_size=26 * 4, rule="linear")

    assert found.learning_rate == pytest.approx(5e-5 / 16 * 26 * 4)


def test_a_rising_rate_has_a_warm_up_of_at_most_a_tenth_of_the_job() -> None:
    free = scaled_learning_rate(0.1, batch_size=8, new_batch_size=32, rule="linear")
    short = scaled_learning_rate(
        0.1, batch_size=8, new_batch_size=32, rule="linear", job_steps=500
    )
    falling = scaled_learning_rate(0.1, batch_size=32, new_batch_size=8)

    assert (free.warm_up_steps, short.warm_up_steps, falling.warm_up_steps) == (200, 50, 0)


def test_weight_decay_shrinks_only_when_it_is_given() -> None:
    with_decay = scaled_learning_rate(0.1, batch_size=8, new_batch_size=16, weight_decay=0.02)
    without = scaled_learning_rate(0.1, batch_size=8, new_batch_size=16)

    assert with_decay.weight_decay == pytest.approx(0.01)
    assert without.weight_decay is None


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_rate_that_is_no_rate_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"learning_rate=.* is not above 0"):
        scaled_learning_rate(wrong, batch_size=8, new_batch_size=16)
