"""``smtc-lab scale``: run a script on several numbers of devices, say how it grows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smtc_lab.cli.say import say, say_cautions
from smtc_lab.cli.writable import unwritable
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.options import distribution_options, job_options
from smtc_lab.study.options.emulation_options import EMULATION, emulations

if TYPE_CHECKING:
    from smtc_lab.catalog.catalog import Catalog
    from smtc_lab.metrics.scaling.scaling import Scaling


@click.command()
@click.argument("script", type=click.Path(path_type=Path))
@job_options.ARGUMENTS
@click.option(
    "--cluster",
    "clusters",
    multiple=True,
    required=True,
    metavar="[NAME@]GROUP=TYPE:COUNT,…",
    help="What to scale: its training group grows, a data group stays. Give it once for each "
    "curve.",
)
@click.option(
    "--devices",
    default="1,2,4,8",
    show_default=True,
    metavar="N,…",
    help="Numbers of devices.",
)
@distribution_options.SHARD
@click.option(
    "--mode",
    type=click.Choice(["weak", "strong"]),
    default="weak",
    show_default=True,
    help="weak: each device keeps its batch. strong: the step keeps its batch, and the devices "
    "share it.",
)
@click.option(
    "--batch",
    default="batch_size",
    show_default=True,
    metavar="NAME",
    help="Hyperparameter that holds the batch of a device; strong scaling divides it.",
)
@job_options.STEPS
@job_options.ROUNDS
@job_options.WITHIN
@click.option(
    "--bound",
    type=float,
    default=0.5,
    show_default=True,
    metavar="FRACTION",
    help="Share of what a device before brought that an added one must bring.",
)
@click.option(
    "--bigger-instances",
    is_flag=True,
    help="Before more instances take types of the same family with more accelerators.",
)
@click.option(
    "--samples-per-epoch", type=int, metavar="COUNT", help="Tell the price of an epoch, too."
)
@click.option(
    "--parity",
    is_flag=True,
    help="Check that several trainers train the model of one process, in short launches.",
)
@job_options.HYPERPARAMETERS
@job_options.ENVIRONMENT
@job_options.METRICS
@job_options.SEED
@EMULATION
@job_options.PRICES
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write it here.")
@click.option(
    "--figure", type=click.Path(path_type=Path), help="Write its figure here: .png, .svg, .pdf."
)
@job_options.folders
@click.option("--quiet", is_flag=True, help="Show no progress.")
def scale(**options: Any) -> None:  # noqa: ANN401  click passes its own parameters
    """Run SCRIPT on several numbers of devices, and say how it grows with them.

    Efficiency with intervals, price of a sample, what the rest is lost to, and up to how many
    devices it pays. Launches are interleaved, each in a fresh process. By default instances are
    emulated, as by 'smtc-lab compare'.

    \b
    Example:
      smtc-lab scale --cluster dnn_group=ml.p3.2xlarge:1 --devices 1,2,4 \\
        --steps 20 --device-time 0.04 --json scaling.json train.py
    """  # noqa: D301  \b is click's mark for text that is not wrapped
    jobs, devices, catalog = _given(options)
    # heavy, so after all that can be refused
    from smtc_lab.study.comparison.duration import least_time_on_this_machine  # noqa: PLC0415
    from smtc_lab.study.scaling.scale import launch_scaling  # noqa: PLC0415
    from smtc_lab.views.progress import ProgressLine  # noqa: PLC0415

    say_cautions(jobs, catalog)
    names = ("mode", "batch", "rounds", "within", "bound", "bigger_instances", "parity")
    study = launch_scaling(
        jobs,
        devices=devices,
        samples_per_epoch=options["samples_per_epoch"],
        root=options["runs_dir"],
        catalog=catalog,
        **{name: options[name] for name in names},
    )
    launched, rounds = study.request.jobs, options["rounds"]
    if took := least_time_on_this_machine(launched, catalog, rounds=rounds):
        say(took, err=True)
    with ProgressLine(quiet=options["quiet"]) as line:
        scaling = study.wait(progress=line.show)
    _show(scaling, options)
    if study.new_files:
        say(study.new_files)


def _given(options: dict[str, Any]) -> tuple[list[TrainingJob], list[int], Catalog]:
    """Return the jobs that the options describe, or refuse all that is wrong at once."""
    refusals = job_options.Refusals()
    catalog = job_options.catalog_with(options["prices"], refusals)
    devices = refusals.tried(job_options.counts_in, options["devices"]) or []
    shared = {
        **job_options.script_values(options, refusals),
        # the numbers of devices say how many replicas there are
        "distribution": distribution_options.distribution(options, refusals),
        "entry_point": str(options["script"]),
        "seed": options["seed"],
        "max_steps": options["steps"],
    }
    parsed = [refusals.tried(Cluster.parse, text) for text in options["clusters"]]
    clusters = list(filter(None, parsed))
    emulated = emulations(options, clusters, catalog, refusals)
    jobs = [
        refusals.tried(TrainingJob, cluster=cluster, emulation=emulation, **shared)
        for cluster, emulation in zip(clusters, emulated, strict=True)
    ]
    refusals.problems += unwritable(options["json_file"], options["figure"])
    refusals.raise_if_any()
    return [job for job in jobs if job is not None], devices, catalog


def _show(scaling: Scaling, options: dict[str, Any]) -> None:
    from smtc_lab.views.scaling.text import scaling_text  # noqa: PLC0415  after the runs

    say(scaling_text(scaling))
    if options["json_file"] is not None:
        options["json_file"].write_text(scaling.to_json() + "\n", encoding="utf-8")
        say(f"Scaling: {options['json_file']}")
    if options["figure"] is not None:
        from smtc_lab.views.scaling.figure import write_scaling_figure  # noqa: PLC0415  matplotlib is slow

        write_scaling_figure(scaling, options["figure"])
        say(f"Figure: {options['figure']}")
