"""What a launch on SageMaker must be told of the account."""

from __future__ import annotations

import re

import pytest

from smtc_lab.errors import SpecError
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

ACCOUNT = {
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "image:1",
    "s3_uri": "s3://the-bucket/lab/",
}


def test_everything_that_is_missing_is_named_at_once_with_its_variable() -> None:
    with pytest.raises(SpecError) as refused:
        SageMakerSettings.of({"image_uri": "image:1"})

    assert len(refused.value.problems) == 2
    assert "SMTC_SAGEMAKER_ROLE_ARN" in refused.value.problems[0]
    assert "SMTC_SAGEMAKER_S3_URI" in refused.value.problems[1]


def test_the_environment_gives_what_is_not_given_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMTC_SAGEMAKER_IMAGE_URI", "from-outside:1")
    monkeypatch.setenv("SMTC_SAGEMAKER_ROLE_ARN", "arn:aws:iam::999999999999:role/Other")
    given = {"role_arn": ACCOUNT["role_arn"], "s3_uri": ACCOUNT["s3_uri"]}

    settings = SageMakerSettings.of(given)

    assert settings.image_uri == "from-outside:1"
    assert settings.role_arn == ACCOUNT["role_arn"]


def test_everything_of_a_job_lies_under_one_prefix() -> None:
    settings = SageMakerSettings(**ACCOUNT)

    assert settings.bucket == "the-bucket"
    assert settings.job_uri("demo", "checkpoints") == "s3://the-bucket/lab/demo/checkpoints"
    whole_bucket = SageMakerSettings(**{**ACCOUNT, "s3_uri": "s3://the-bucket"})
    assert whole_bucket.job_uri("demo", "source", "") == "s3://the-bucket/demo/source/"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"role_arn": "SageMakerRole"}, r"role_arn 'SageMakerRole' is not the ARN of a role"),
        ({"s3_uri": "the-bucket/lab"}, r"s3_uri 'the-bucket/lab' is not.*s3://my-bucket"),
        ({"max_usd": 0.0}, r"max_usd=0 is not above 0"),
        ({"volume_gb": 0}, r"volume_gb=0 is outside 1 to 16384"),
        ({"retry_attempts": 31}, r"retry_attempts=31 is outside 0 to 30"),
        ({"max_wait_s": 60.0}, r"max_wait_s=60 is for spot instances only"),
        ({"use_spot": True, "keep_alive_s": 60}, r"exclude each other"),
        ({"subnets": ["subnet-1"]}, r"subnets is given without security_group_ids"),
        ({"spot": True}, r"SageMakerSettings.spot=True is not a field of this spec"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError) as refused:
        SageMakerSettings(**{**ACCOUNT, **wrong})

    assert re.search(message, str(refused.value))


def test_settings_come_back_from_a_plan_unchanged() -> None:
    settings = SageMakerSettings(
        **ACCOUNT, use_spot=True, subnets=["subnet-1"], security_group_ids=["sg-1"]
    )

    assert SageMakerSettings.model_validate(settings.model_dump(mode="json")) == settings
