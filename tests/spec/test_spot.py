"""What a job says of instances that may be taken away."""

from __future__ import annotations

from typing import Any

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.spec.spot import Market


def job(**values: Any) -> TrainingJob:
    return TrainingJob(entry_point="train.py", cluster=Cluster.parse("a=local:1"), **values)


def test_a_spot_job_goes_to_json_and_back() -> None:
    market = Market(mean_time_between_s=60, variation=2.0, interruptions_s=(3.0, 1.0))
    made = job(
        use_spot_instances=True,
        max_runtime_s=100.0,
        max_wait=200.0,
        checkpoint_s3_uri="s3://bucket/here",
        checkpoint_local_path="/opt/ml/checkpoints",
        market=market,
    )

    assert TrainingJob.from_json(made.to_json()) == made
    assert market.interruptions_s == (1.0, 3.0)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"use_spot_instances": True, "max_runtime_s": 100.0, "max_wait": 99.0},
            "Invalid MaxWaitTimeInSeconds. It must be present and be greater than or equal",
        ),
        (
            {"resume": "automatic", "compiler_config": {"backend": "inductor"}},
            "resume='automatic' does not go with a compiler_config",
        ),
        ({"resume": "always"}, "resume"),
        ({"max_wait": 1e6}, "use_spot_instances is False"),
        ({"market": {}}, "use_spot_instances is False"),
        ({"checkpoint_s3_uri": "bucket"}, "is not s3://BUCKET/PREFIX"),
        ({"checkpoint_local_path": "here"}, "does not begin with '/'"),
        ({"use_spot_instances": True, "market": {"mean_time_between_s": 0}}, "outside 0 to"),
        ({"use_spot_instances": True, "market": {"variation": 0.01}}, "outside 0.1 to 10"),
        ({"use_spot_instances": True, "market": {"notice_s": 121}}, "outside 0 to 120"),
        ({"use_spot_instances": True, "market": {"interruptions_s": [-1.0]}}, "has -1.0"),
    ],
)
def test_what_does_not_fit_is_refused(values: dict[str, Any], expected: str) -> None:
    with pytest.raises(SpecError, match=expected):
        job(**values)
