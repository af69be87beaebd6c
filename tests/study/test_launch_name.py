from __future__ import annotations

from datetime import UTC, datetime

from smtc_lab.study.launch_name import launch_name

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def name(label: str) -> str:
    return launch_name("some/train.py", label, "r1", stamp=MOMENT)


def test_a_name_tells_script_set_up_launch_and_moment() -> None:
    assert name("2 x ml.c5.xlarge") == "train-2-x-ml-c5-xlarge-r1-0102-030405-678"


def test_long_labels_that_differ_only_at_their_end_have_different_names() -> None:
    fused, medium = (
        name("inductor, fused, kept memory"),
        name("inductor, fused, kept memory, 2"),
    )
    assert fused != medium
    assert fused.startswith("train-inductor-fused-")


def test_no_name_is_longer_than_a_job_name_may_be() -> None:
    longest = launch_name("x" * 99 + ".py", "label " * 20, "b65536", stamp=MOMENT)
    assert len(longest) <= 63


def test_a_label_without_a_letter_still_has_a_name() -> None:
    assert name("…") == "train-cluster-r1-0102-030405-678"
