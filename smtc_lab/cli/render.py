"""``smtc-lab render``: a job as a file for Slurm or Kubernetes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.cli.say import say, say_cautions
from smtc_lab.cli.writable import unwritable
from smtc_lab.launchers.render.render import FORMATS, render
from smtc_lab.neutral_text import neutral
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.options import distribution_options, job_options

_OF_THE_FORMAT = {"image": "image", "claim": "claim", "python": "python", "runs_dir": "root"}
"""Options that only one format takes, and what ``render`` calls them."""


@click.command(name="render")
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option(
    "--cluster",
    required=True,
    metavar="GROUP=TYPE:COUNT,…",
    help="The instance groups to ask for.",
)
@click.option(
    "--to",
    required=True,
    type=click.Choice(list(FORMATS)),
    help="An sbatch script for Slurm, or a manifest for Kubernetes with JobSet.",
)
@click.option("--name", help="Name of the job. Default: that of SCRIPT.")
@job_options.HYPERPARAMETERS
@job_options.ENVIRONMENT
@job_options.METRICS
@distribution_options.DISTRIBUTION
@click.option("--steps", type=int, help="Steps of the run. Default: until the script ends.")
@job_options.SEED
@click.option(
    "--max-runtime",
    type=float,
    metavar="SECONDS",
    help="Longest time that the run may take. Default: a day.",
)
@click.option("--image", help="Kubernetes: image with torch, smtc-lab and SCRIPT.")
@click.option(
    "--claim", help="Kubernetes: volume claim that keeps the run's records; all nodes write it."
)
@click.option(
    "--runs-dir",
    type=click.Path(path_type=Path),
    help="Slurm: folder of runs, which all nodes share. Default: with all runs.",
)
@click.option("--python", help="Slurm: interpreter on the nodes. Default: this one.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write the file here. Default: print it."
)
def render_job(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Write the file that runs SCRIPT on a Slurm or Kubernetes cluster. Starts nothing.

    \b
    Examples:
      smtc-lab render train.py --to slurm --out job.sh \\
        --cluster dnn_group=ml.p4d.24xlarge:1,data_group=ml.c5.18xlarge:2
      smtc-lab render train.py --to jobset --image registry.example.com/train:1 \\
        --cluster dnn_group=ml.p3.2xlarge:1 --out job.yaml
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    refusals = job_options.Refusals()
    limit_s = options["max_runtime"]
    values: dict[str, Any] = {
        "entry_point": str(options["script"]),
        "cluster": refusals.tried(Cluster.parse, options["cluster"]),
        "job_name": options["name"],
        **job_options.script_values(options, refusals),
        "distribution": distribution_options.distribution(options, refusals),
        "max_steps": options["steps"],
        "seed": options["seed"],
        **({} if limit_s is None else {"max_runtime_s": limit_s}),
    }
    refusals.problems += unwritable(options["out"])
    refusals.raise_if_any()
    given = {
        name: options[option]
        for option, name in _OF_THE_FORMAT.items()
        if options[option] is not None
    }
    job = TrainingJob(**values)
    say_cautions([job], Catalog.load())
    text = render(job, options["to"], **given)
    if options["out"] is None:
        # a file is exact; a terminal would obey it
        click.echo(neutral(text) if sys.stdout.isatty() else text, nl=False)
    else:
        options["out"].write_text(text, encoding="utf-8")
        say(f"Written: {options['out']}")
