"""``smtc-lab prove-resume``: whether a script goes on after it is killed, bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from smtc_lab.cli.say import say
from smtc_lab.cli.writable import unwritable
from smtc_lab.store.run_folder import runs_root
from smtc_lab.study.options import job_options
from smtc_lab.study.options.compared_jobs import ONE_JOB, described_job

_UNPROVEN = 1


@click.command(name="prove-resume")
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@ONE_JOB
@click.option(
    "--interruptions", type=int, default=3, show_default=True, help="How often it is killed."
)
@click.option("--steps", type=int, help="Its first N steps alone. Default: to its end.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of those steps.")
@click.option(
    "--resume",
    type=click.Choice(["automatic"]),
    help="Keep a plain loop that saves nothing. Default: the script saves and loads.",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it here.")
@job_options.folders
def prove_resume(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Train SCRIPT unbroken and killed at random steps, and compare all bits of each step.

    Says "equal", or names the first thing that differs and the line that would mend it. The
    exit code is 1 then, where it began anew each time, as it keeps no checkpoint, and where it
    had made its last step before it was killed. Files that the script wrote below SM_MODEL_DIR
    and SM_OUTPUT_DATA_DIR and that differ are named, and change no exit code. Both runs are of
    this machine as it is.

    \b
    Examples:
      smtc-lab prove-resume --steps 100 train.py
      smtc-lab prove-resume --data 2 --compiler inductor train.py
      smtc-lab prove-resume --cluster train=local:1:train,data=local:1:data train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    described = {**options, "seed": 0}  # that of the kills is another one
    job = described_job(described, str(options["script"]), refusals)
    refusals.problems += unwritable(options["json_file"])
    refusals.raise_if_any()
    assert job is not None  # noqa: S101  nothing was refused
    from smtc_lab.study.new_files import new_files_line  # noqa: PLC0415  as below
    from smtc_lab.study.resuming.prove import (  # noqa: PLC0415  after all that is refused
        prove_resume as prove,
    )

    proof = prove(
        job.model_copy(update={"resume": options["resume"]}),
        interruptions=options["interruptions"],
        seed=options["seed"],
        root=options["runs_dir"],
        progress=lambda line: say(line, err=True),
    )
    say(proof.verdict)
    if new_files := new_files_line(runs_root(options["runs_dir"]), proof.runs):
        say(new_files)
    if options["json_file"] is not None:
        options["json_file"].write_text(proof.model_dump_json(indent=1) + "\n", "utf-8")
    if not proof.equal or proof.began_anew or not proof.was_killed:
        sys.exit(_UNPROVEN)
