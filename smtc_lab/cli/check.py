"""``smtc-lab check``: whether jobs could be launched somewhere, before one is."""

from __future__ import annotations

import sys
from typing import Any

import click

from smtc_lab.launchers.on_sagemaker.live_check import check_account
from smtc_lab.launchers.on_sagemaker.settings import ENVIRONMENT, SageMakerSettings

_MARKS = {"ok": "ok     ", "problem": "PROBLEM", "unknown": "unknown"}


@click.command()
@click.option(
    "--on",
    type=click.Choice(["sagemaker"]),
    default="sagemaker",
    show_default=True,
    help="Where jobs would run.",
)
@click.option("--live", is_flag=True, help="Ask AWS, with boto3's own credentials.")
@click.option("--role-arn", help=f"Role of the jobs. Default: ${ENVIRONMENT['role_arn']}.")
@click.option("--image-uri", help=f"Their image. Default: ${ENVIRONMENT['image_uri']}.")
@click.option("--s3-uri", help=f"Their place in S3. Default: ${ENVIRONMENT['s3_uri']}.")
@click.option("--region", help="AWS region. Default: boto3's own.")
def check(*, on: str, live: bool, **given: Any) -> None:  # noqa: ANN401  the settings' own types
    """Check that an account can run jobs. Starts nothing, and costs nothing to speak of.

    With --live, it asks AWS: who you are, whether the role, the bucket, the training jobs and
    their logs can be reached. It cannot tell whether AWS accepts a job: only a job does.
    """
    settings = SageMakerSettings.of({k: v for k, v in given.items() if v is not None})
    click.echo(f"{_MARKS['ok']} settings: legal for {on}")
    if not live:
        click.echo("Nothing was asked of AWS. Add --live for that.")
        return
    lines = []
    for line in check_account(settings):
        click.echo(f"{_MARKS[line.verdict]} {line.what}: {line.found}")
        lines.append(line)
    if any(line.verdict == "problem" for line in lines):
        sys.exit(1)
