"""The cheapest real checks that an account can run our jobs. No instance is started.

What they cannot prove: that AWS accepts a whole CreateTrainingJob request, that the quota of an
instance type is above 0, that the image starts, and that the instances reach each other.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import LauncherError
from smtc_lab.launchers.launcher import CheckLine
from smtc_lab.launchers.on_sagemaker.aws.clients import AwsError, aws_errors, client
from smtc_lab.launchers.on_sagemaker.aws.training_jobs import TrainingJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from smtc_lab.launchers.on_sagemaker.settings import SageMakerSettings

_ACTIONS = [
    "sagemaker:CreateTrainingJob",
    "sagemaker:DescribeTrainingJob",
    "sagemaker:StopTrainingJob",
    "sagemaker:AddTags",
    "sagemaker:ListTags",
    "sagemaker:Search",
    "logs:DescribeLogStreams",
    "logs:GetLogEvents",
]
_LOG_GROUP = "/aws/sagemaker/TrainingJobs"
_SERVICE = "sagemaker.amazonaws.com"
_IMAGE = re.compile(
    r"(?P<account>[0-9]{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/"
    r"[a-z0-9._/-]+(:[\w.-]{1,128}|@sha256:[0-9a-f]{64})"
)
_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation"}


def check_account(settings: SageMakerSettings) -> Iterator[CheckLine]:
    """Yield each check as it is made. Writes and deletes one object of 10 bytes in S3."""
    yield _image(settings)
    checks: dict[str, Callable[[SageMakerSettings], CheckLine]] = {
        "identity": _identity,
        "role": _role,
        "permissions": _permissions,
        "S3": _s3,
        "SageMaker": _sagemaker,
        "CloudWatch logs": _logs,
    }
    for what, check in checks.items():
        try:
            yield check(settings)
        except LauncherError as error:
            yield CheckLine(what=what, verdict="problem", found=str(error))


def _image(settings: SageMakerSettings) -> CheckLine:
    match = _IMAGE.fullmatch(settings.image_uri)
    if match is None:
        return CheckLine(
            what="image",
            verdict="problem",
            found=f"{settings.image_uri!r} is not of the form ACCOUNT.dkr.ecr.REGION."
            "amazonaws.com/NAME:TAG. Push the image to ECR, and give its URI with the tag.",
        )
    if settings.region is not None and match["region"] != settings.region:
        return CheckLine(
            what="image",
            verdict="problem",
            found=f"{settings.image_uri!r} is in {match['region']}, but the job runs in "
            f"{settings.region}. Choose an image of that region.",
        )
    return CheckLine(
        what="image",
        verdict="ok",
        found="The form is right. Whether it can be pulled shows when a job starts.",
    )


def _identity(settings: SageMakerSettings) -> CheckLine:
    with aws_errors("say who you are"):
        caller = client("sts", settings.region).get_caller_identity()
    role_account = settings.role_arn.split(":")[4]
    if caller["Account"] != role_account:
        return CheckLine(
            what="identity",
            verdict="problem",
            found=f"You are in account {caller['Account']}, but role_arn is of account "
            f"{role_account}. Choose another profile (AWS_PROFILE), or another role.",
        )
    return CheckLine(what="identity", verdict="ok", found=f"You are {caller['Arn']}.")


def _role(settings: SageMakerSettings) -> CheckLine:
    name = settings.role_arn.rsplit("/", 1)[-1]
    try:
        with aws_errors(f"read the role {name!r}"):
            role = client("iam", settings.region).get_role(RoleName=name)["Role"]
    except AwsError as error:
        if error.code in _DENIED:
            return CheckLine(
                what="role",
                verdict="unknown",
                found=f"You may not read roles (iam:GetRole), so {name!r} shows when a job "
                "starts. So does iam:PassRole, which you need for it.",
            )
        raise
    if not _trusts_sagemaker(role["AssumeRolePolicyDocument"]):
        return CheckLine(
            what="role",
            verdict="problem",
            found=f"The role {name!r} does not trust {_SERVICE}. Add that service to its "
            "trust policy.",
        )
    return CheckLine(
        what="role",
        verdict="ok",
        found=f"{name!r} is there and trusts {_SERVICE}. What it allows shows when a job runs.",
    )


def _trusts_sagemaker(policy: Any) -> bool:  # noqa: ANN401  a policy as AWS gives it
    statements = policy.get("Statement", []) if isinstance(policy, dict) else []
    for statement in [statements] if isinstance(statements, dict) else statements:
        principal = statement.get("Principal", {})
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        named = [services] if isinstance(services, str) else services
        if statement.get("Effect") == "Allow" and _SERVICE in named:
            return True
    return False


def _permissions(settings: SageMakerSettings) -> CheckLine:
    """Let IAM tell what it would allow, where it lets itself be asked."""
    with aws_errors("say who you are"):
        arn = client("sts", settings.region).get_caller_identity()["Arn"]
    if match := re.fullmatch(r"(arn:[\w-]+):sts::([0-9]{12}):assumed-role/([^/]+)/.*", arn):
        arn = f"{match[1]}:iam::{match[2]}:role/{match[3]}"
    unknown = CheckLine(
        what="permissions",
        verdict="unknown",
        found=f"IAM does not tell what {arn} may do (iam:SimulatePrincipalPolicy). Whether you "
        "may create training jobs and pass them the role shows when a job starts.",
    )
    if ":iam::" not in arn:
        return unknown
    iam = client("iam", settings.region)
    passing = {
        "ContextKeyName": "iam:PassedToService",
        "ContextKeyValues": [_SERVICE],
        "ContextKeyType": "string",
    }
    try:
        with aws_errors("simulate your permissions"):
            answers = [
                iam.simulate_principal_policy(
                    PolicySourceArn=arn,
                    ActionNames=actions,
                    ResourceArns=[resource],
                    ContextEntries=[passing],
                )
                for actions, resource in (
                    (_ACTIONS, "*"),
                    (["iam:PassRole"], settings.role_arn),
                )
            ]
    except AwsError:
        return unknown
    results = [result for answer in answers for result in answer["EvaluationResults"]]
    denied = [r["EvalActionName"] for r in results if r["EvalDecision"] != "allowed"]
    if denied:
        return CheckLine(
            what="permissions",
            verdict="problem",
            found=f"{arn} may not {', '.join(denied)}. Ask whoever manages the account to "
            "allow it.",
        )
    allowed = "You may create, describe and stop training jobs and pass them the role."
    return CheckLine(what="permissions", verdict="ok", found=f"{allowed} IAM says so.")


def _s3(settings: SageMakerSettings) -> CheckLine:
    s3 = client("s3", settings.region)
    name = f"smtc-lab-check-{secrets.token_hex(8)}"
    place = {"Bucket": settings.bucket, "Key": "/".join(filter(None, (settings.prefix, name)))}
    with aws_errors(f"put an object to {settings.root_uri!r} and delete it"):
        s3.put_object(**place, Body=b"smtc check")
        s3.delete_object(**place)
    return CheckLine(
        what="S3",
        verdict="ok",
        found=f"An object could be put to {settings.root_uri!r} and deleted.",
    )


def _sagemaker(settings: SageMakerSettings) -> CheckLine:
    sagemaker = client("sagemaker", settings.region)
    TrainingJobs(sagemaker).find(f"smtc-lab-check-{secrets.token_hex(8)}")
    return CheckLine(
        what="SageMaker",
        verdict="ok",
        found=f"Training jobs can be described in {sagemaker.meta.region_name}. Whether they "
        "can be created, and the quota of a type, shows when a job starts.",
    )


def _logs(settings: SageMakerSettings) -> CheckLine:
    logs = client("logs", settings.region)
    try:
        with aws_errors("list the log streams of training jobs"):
            logs.describe_log_streams(logGroupName=_LOG_GROUP, limit=1)
    except AwsError as error:
        if error.code != "ResourceNotFoundException":
            raise
    return CheckLine(
        what="CloudWatch logs", verdict="ok", found="The logs of training jobs can be read."
    )
