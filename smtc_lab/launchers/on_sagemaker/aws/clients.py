"""The clients of AWS, and its errors in our words. The only file that knows boto3.

Credentials are those of boto3's own chain (environment, profile, SSO, role of the machine).
They are never read, kept, logged or shown here. ``AWS_ENDPOINT_URL`` is boto3's own, too.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ATTEMPTS = 5
_CONNECT_S = 10
_READ_S = 60

_ACCESS_KEY = re.compile(r"\b(A[SK]IA|AGPA|AIDA|AROA)[A-Z0-9]{12,}")

_LOG_IN = "Log in again, for example with 'aws sso login', and try again."
_OTHER_CREDENTIALS = (
    "Correct what boto3 finds: environment variables AWS_*, or the profile in AWS_PROFILE."
)
_WAIT = "Wait a minute and try again."
_REMEDIES = {
    ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AllAccessDisabled"): (
        "Ask whoever manages the account to allow it; 'smtc-lab check --live --on sagemaker' "
        "tells what else is missing."
    ),
    ("ExpiredToken", "ExpiredTokenException", "RequestExpired"): _LOG_IN,
    (
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "InvalidSignatureException",
        "AuthFailure",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
    ): _OTHER_CREDENTIALS,
    ("ResourceLimitExceeded",): (
        "Ask for a higher quota of that instance type at AWS Service Quotas, or choose another "
        "type or fewer instances."
    ),
    ("Throttling", "ThrottlingException", "TooManyRequestsException", "SlowDown"): _WAIT,
    ("ServiceUnavailable", "InternalFailure", "InternalServerError", "InternalError"): _WAIT,
    ("NoSuchBucket",): "Create the bucket, or correct s3_uri.",
    ("PermanentRedirect", "AuthorizationHeaderMalformed"): (
        "The bucket is in another region. Choose a bucket of the job's region."
    ),
    ("ResourceInUse",): "Choose another job_name.",
    ("ValidationException", "ValidationError"): "Correct that value.",
}
_REMEDY_OF = {code: remedy for codes, remedy in _REMEDIES.items() for code in codes}


def client(service: str, region: str | None = None) -> Any:  # noqa: ANN401  boto3 makes its classes as it runs
    """Return a client of an AWS service.

    Args:
        service: ``sagemaker``, ``s3``, ``logs``, ``sts`` or ``iam``.
        region: AWS region; None: the one of boto3's configuration.

    Raises:
        LauncherError: boto3 is not installed, or there is no region.
    """
    session = _session(region)
    from botocore.config import Config  # noqa: PLC0415  comes with boto3

    config = Config(
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        connect_timeout=_CONNECT_S,
        read_timeout=_READ_S,
    )
    with aws_errors("make a client"):
        return session.client(service, config=config)


def region_or_default(region: str | None) -> str:
    """Return a region, or the one of boto3's configuration.

    Raises:
        LauncherError: boto3 is not installed, or there is no region.
    """
    found: str | None = _session(region).region_name
    if found is None:
        raise LauncherError(
            "No AWS region is given (region=None), and boto3's configuration has none. Give "
            "region=..., or set AWS_DEFAULT_REGION."
        )
    return found


def service_model() -> Any:  # noqa: ANN401  botocore has no types
    """Return what botocore knows of SageMaker's requests; no network.

    Raises:
        LauncherError: boto3 is not installed.
    """
    return _core_session().get_service_model("sagemaker")


def _session(region: str | None) -> Any:  # noqa: ANN401  boto3 makes its classes as it runs
    """Return a session of boto3, with the credentials that its chain finds now."""
    core = _core_session()
    import boto3

    return boto3.session.Session(botocore_session=core, region_name=region)


def _core_session() -> Any:  # noqa: ANN401  botocore has no types
    try:
        import boto3  # noqa: F401  named in the message, rather than its part
        import botocore.session  # noqa: PLC0415  an extra that only launches on SageMaker need
    except ImportError as error:
        raise LauncherError(
            f"The launcher 'sagemaker' needs the package {error.name!r}, which is not "
            "installed. Run: pip install 'smtc-lab[sagemaker]'."
        ) from error
    core = botocore.session.Session()
    core.register_component("data_loader", _descriptions())
    return core


@cache
def _descriptions() -> Any:  # noqa: ANN401  botocore has no types
    """Return the reader of AWS's service descriptions; SageMaker's takes 0.2 s to read."""
    import botocore.loaders  # noqa: PLC0415  see _core_session

    return botocore.loaders.create_loader()


@contextmanager
def aws_errors(doing: str) -> Iterator[None]:
    """Turn an error of AWS, or on the way there, into one that says what to do.

    Args:
        doing: What was tried, for example ``start the training job 'demo'``.

    Raises:
        LauncherError: It did not work. Never holds a credential.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  see client

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        code = error_code(error)
        remedy = _remedy(code)
        message = f"AWS could not {doing}. {_said(error)} {remedy}"
        was_answered = isinstance(error, ClientError)
        raise AwsError(message, code=code, was_answered=was_answered) from None


class AwsError(LauncherError):
    """An error of AWS, with its code."""

    def __init__(self, message: str, *, code: str, was_answered: bool) -> None:
        super().__init__(message)
        self.code = code
        """AWS's own word for it, for example ``ThrottlingException``, or botocore's."""
        self.was_answered = was_answered
        """Whether AWS answered. If not, nobody knows whether it did what was asked."""


def error_code(error: Exception) -> str:
    """Return AWS's own word for an error, or the name of the error on the way there."""
    response = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code") or type(error).__name__)


def _said(error: Exception) -> str:
    """Return what AWS said, without the names of access keys."""
    response = getattr(error, "response", None) or {}
    message = str(response.get("Error", {}).get("Message") or error).strip()
    text = f"It said {error_code(error)}: {message[:600]}"
    return _ACCESS_KEY.sub("(access key)", text).rstrip(".") + "."


def _remedy(code: str) -> str:
    if code in _REMEDY_OF:
        return _REMEDY_OF[code]
    if "Region" in code:
        return "Give region=..., or set AWS_DEFAULT_REGION."
    if "Token" in code:
        return _LOG_IN
    if "Credentials" in code or "Profile" in code:
        return _OTHER_CREDENTIALS
    if "Connect" in code or "Endpoint" in code or "Timeout" in code:
        return "Check the network, the proxy and AWS_ENDPOINT_URL, and try again."
    return "Correct that and try again."
