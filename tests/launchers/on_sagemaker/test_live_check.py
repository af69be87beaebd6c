"""``smtc-lab check --live``: what can be found out about an account without a job."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from smtc_lab.cli import cli
from smtc_lab.launchers.on_sagemaker import live_check
from smtc_lab.launchers.on_sagemaker.aws.clients import client
from smtc_lab.launchers.on_sagemaker.live_check import check_account
from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Principal": {"Service": "sagemaker.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    ],
}


@pytest.fixture
def role(fake: str) -> Iterator[str]:
    """A role of the account that trusts SageMaker."""
    assert fake
    iam = client("iam", "us-east-1")
    yield iam.create_role(RoleName="Trusted", AssumeRolePolicyDocument=json.dumps(TRUST))[
        "Role"
    ]["Arn"]
    iam.delete_role(RoleName="Trusted")


def verdicts(settings: SageMakerSettings, **changed: object) -> dict[str, tuple[str, str]]:
    lines = check_account(SageMakerSettings(**{**settings.model_dump(), **changed}))
    return {line.what: (line.verdict, line.found) for line in lines}


def test_an_account_that_is_ready_passes_every_check_and_is_left_as_it_was(
    settings: SageMakerSettings, role: str
) -> None:
    s3 = client("s3", "us-east-1")
    s3.create_bucket(Bucket="checked-bucket")

    found = verdicts(settings, role_arn=role, s3_uri="s3://checked-bucket/lab")

    assert {what: verdict for what, (verdict, _) in found.items()} == {
        "image": "ok",
        "identity": "ok",
        "role": "ok",
        "permissions": "unknown",  # moto's caller is no one whom IAM could be asked about
        "S3": "ok",
        "SageMaker": "ok",
        "CloudWatch logs": "ok",
    }
    assert s3.list_objects_v2(Bucket="checked-bucket")["KeyCount"] == 0


def test_every_problem_of_an_account_is_told_with_what_to_do(
    settings: SageMakerSettings, fake: str
) -> None:
    assert fake
    found = verdicts(
        settings,
        role_arn="arn:aws:iam::999999999999:role/Missing",
        image_uri="torch:latest",
        s3_uri="s3://no-bucket-at-all",
    )

    assert found["image"][0] == found["identity"][0] == found["role"][0] == "problem"
    assert "Push the image to ECR" in found["image"][1]
    assert "role_arn is of account 999999999999" in found["identity"][1]
    assert found["S3"][0] == "problem"
    assert "Create the bucket" in found["S3"][1]


class Account:
    """What IAM and STS say of an assumed role that may do everything but pass roles."""

    def get_caller_identity(self) -> dict[str, str]:
        return {
            "Account": "123456789012",
            "Arn": "arn:aws:sts::123456789012:assumed-role/Dev/me",
        }

    def simulate_principal_policy(self, **asked: Any) -> dict[str, Any]:
        assert asked["PolicySourceArn"] == "arn:aws:iam::123456789012:role/Dev"
        return {
            "EvaluationResults": [
                {
                    "EvalActionName": action,
                    "EvalDecision": "implicitDeny" if action == "iam:PassRole" else "allowed",
                }
                for action in asked["ActionNames"]
            ]
        }


def test_a_permission_that_is_missing_is_named(
    settings: SageMakerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_check, "client", lambda *_: Account())

    line = live_check._permissions(settings)

    assert line.verdict == "problem"
    assert "arn:aws:iam::123456789012:role/Dev may not iam:PassRole." in line.found


def test_the_command_says_what_it_asked_and_ends_with_1_when_something_is_wrong(
    settings: SageMakerSettings, fake: str
) -> None:
    assert fake
    values = {"role-arn": settings.role_arn, "image-uri": "torch:1", "s3-uri": settings.s3_uri}
    given = [f"--{name}={value}" for name, value in values.items()]

    offline = CliRunner().invoke(cli, ["check", *given, "--region=us-east-1"])
    live = CliRunner().invoke(cli, ["check", *given, "--region=us-east-1", "--live"])

    assert offline.exit_code == 0
    assert "Nothing was asked of AWS" in offline.output
    assert live.exit_code == 1
    assert "PROBLEM image: 'torch:1'" in live.output
