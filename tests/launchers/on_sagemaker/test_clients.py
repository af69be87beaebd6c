"""Errors of AWS, in words that say what to do and hold no credential."""

from __future__ import annotations

import sys

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.on_sagemaker.aws.clients import AwsError, aws_errors, client


def refused(code: str, message: str = "No.") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "CreateTrainingJob")


def told(error: Exception) -> AwsError:
    with pytest.raises(AwsError) as raised, aws_errors("create the training job 'demo'"):
        raise error
    return raised.value


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (refused("AccessDeniedException"), "manages the account"),
        (refused("ExpiredTokenException"), "Log in again"),
        (refused("UnrecognizedClientException"), "AWS_PROFILE"),
        (refused("ResourceLimitExceeded"), "Service Quotas"),
        (refused("ThrottlingException"), "Wait a minute"),
        (refused("NoSuchBucket"), "Create the bucket"),
        (refused("Unheard"), "try again"),
        (NoCredentialsError(), "AWS_PROFILE"),
        (EndpointConnectionError(endpoint_url="http://127.0.0.1:1"), "AWS_ENDPOINT_URL"),
    ],
)
def test_an_error_of_aws_says_what_was_tried_what_came_back_and_what_to_do(
    error: Exception, remedy: str
) -> None:
    message = str(told(error))

    assert message.startswith("AWS could not create the training job 'demo'. It said ")
    assert remedy in message


def test_an_error_knows_its_code_and_whether_aws_answered_at_all() -> None:
    answered = told(refused("ThrottlingException"))
    lost = told(EndpointConnectionError(endpoint_url="http://127.0.0.1:1"))

    assert (answered.code, answered.was_answered) == ("ThrottlingException", True)
    assert (lost.code, lost.was_answered) == ("EndpointConnectionError", False)


def test_an_error_holds_no_access_key_and_does_not_chain_the_one_that_does() -> None:
    error = told(refused("InvalidAccessKeyId", "The key ASIAIOSFODNN7EXAMPLE is not known"))

    assert "ASIAIOSFODNN7EXAMPLE" not in str(error)
    assert "(access key) is not known" in str(error)
    assert error.__suppress_context__


def test_without_boto3_the_message_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)

    with pytest.raises(LauncherError, match=r"pip install 'smtc-lab\[sagemaker\]'"):
        client("s3")


def test_without_a_region_the_message_says_where_to_give_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)

    with pytest.raises(LauncherError, match=r"Give region=\.\.\., or set AWS_DEFAULT_REGION"):
        client("sagemaker")
