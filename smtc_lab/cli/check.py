"""``smtc-lab check``: whether jobs could be launched somewhere, before one is."""

from __future__ import annotations

import sys
from typing import Any

import click

from smtc_lab.cli.say import say
from smtc_lab.launchers.engines import ENGINES
from smtc_lab.launchers.run import launcher_named

_BILLED = [name for name, engine in ENGINES.items() if engine.is_billed]
_MARKS = {"ok": "ok     ", "problem": "PROBLEM", "unknown": "unknown"}


@click.command()
@click.option(
    "--on",
    type=click.Choice(_BILLED),
    default=_BILLED[0],
    show_default=True,
    help="Where jobs would run.",
)
@click.option("--live", is_flag=True, help="Ask AWS, with boto3's own credentials.")
@click.option("--role-arn", help="Role of the jobs. Default: $SMTC_SAGEMAKER_ROLE_ARN.")
@click.option("--image-uri", help="Their image. Default: $SMTC_SAGEMAKER_IMAGE_URI.")
@click.option("--s3-uri", help="Their place in S3. Default: $SMTC_SAGEMAKER_S3_URI.")
@click.option("--region", help="AWS region. Default: boto3's own.")
def check(*, on: str, live: bool, **given: Any) -> None:  # noqa: ANN401  the settings' own types
    """Check that an account can run jobs. Starts nothing, and costs nothing to speak of.

    With --live, it asks AWS: who you are, whether the role, the bucket, the training jobs and
    their logs can be reached. It cannot tell whether AWS accepts a job: only a job does.
    """
    launcher = launcher_named(on, **{k: v for k, v in given.items() if v is not None})
    verdicts = set()
    for line in launcher.check_account(live=live):
        say(f"{_MARKS[line.verdict]} {line.what}: {line.found}")
        verdicts.add(line.verdict)
    if not live:
        say("Nothing was asked of AWS. Add --live for that.")
    if "problem" in verdicts:
        sys.exit(1)
