"""A job as an sbatch script: one component of a heterogeneous job for each instance group."""

from __future__ import annotations

import json
import math
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.catalog.roles import roles
from smtc_lab.errors import SpecError
from smtc_lab.launchers.planning import channel_problems, entry_point_problems
from smtc_lab.launchers.render.cluster_plan import GRACE_S
from smtc_lab.launchers.render.needs import cluster_problems, needs_of, plainly_named
from smtc_lab.store.run_folder import runs_root

if TYPE_CHECKING:
    from _typeshed import StrPath

    from smtc_lab.spec.cluster import InstanceGroup, Role
    from smtc_lab.spec.job import TrainingJob

_LONGEST_NAME = 52
"""A run's folder is named after the job and the number that Slurm gives it."""

_ENDING_S = GRACE_S + 60.0
"""What Slurm allows beyond the job's own limit, so that the run itself says why it ended."""

_NOTICE_S = 60
"""How long before it takes nodes away Slurm tells a spot job, where the site lets it."""

_SIGNAL_EARLY_S = 60.0
"""How much earlier than that Slurm may do so, also before the end of a job's time."""

_STAYS = "#SBATCH --no-requeue"
_SPOT = f"""\
# Spot: where Slurm takes the nodes away (PreemptMode=REQUEUE, a node that fails) it starts this
# script again, which goes on in the folder of runs, after the last checkpoint. So that has to
# lie on a file system that all nodes share.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@{_NOTICE_S}"""

_TEXT = """\
#!/bin/bash
# Training job {name!r}, written by smtc-lab. Submit it with: sbatch FILE
# Options of your site go before FILE, one set for each instance group, in the order below:
#   sbatch {site_options} FILE
#SBATCH --job-name={name}
#SBATCH --time={minutes}
{requeue}
{groups}
exec {python} -m smtc_lab.launchers.render.slurm_start {root} <<'END_OF_JOB'
{job}
END_OF_JOB
"""
"""No value but the job's name, plain by its rules, stands where sbatch or bash would read it:
the rest is quoted, or lies in the JSON, none of whose lines can be the one that ends it."""


def slurm_script(
    job: TrainingJob,
    *,
    root: StrPath | None = None,
    python: str = sys.executable,
    catalog: Catalog | None = None,
) -> str:
    """Return the sbatch script that runs a job on Slurm.

    The script's paths, the interpreter and the folder of runs must be the same on all nodes,
    as they are on a file system that the nodes share. The run's folder is named after the job
    and its number at Slurm; every machine that sees it can read and follow the run. A spot job
    is requeued by Slurm, and goes on in its folder.

    Args:
        job: What to run.
        root: Folder of runs; None: the default one, in the user's home.
        python: The interpreter, which has smtc-lab and torch.
        catalog: Where instance types are looked up; None: the one that comes along.

    Raises:
        SpecError: The job cannot be written down; all reasons at once.
    """
    catalog = catalog or Catalog.load()
    root = runs_root() if root is None else Path(root)  # a relative one is refused
    job = plainly_named(job)
    if problems := _problems(job, root, catalog):
        raise SpecError(problems)
    groups, ending_s = job.cluster.instance_groups, _ENDING_S
    role_of = roles(job.cluster, catalog)
    if job.use_spot_instances:
        ending_s += _NOTICE_S + _SIGNAL_EARLY_S
    return _TEXT.format(
        name=job.job_name,
        site_options=" : ".join(["--partition=NAME"] * len(groups)),
        minutes=math.ceil((job.max_runtime_s + ending_s) / 60),
        requeue=_SPOT if job.use_spot_instances else _STAYS,
        groups="\n#SBATCH hetjob\n".join(
            _component(group, role_of[group.instance_group_name], catalog) for group in groups
        ),
        python=shlex.quote(python),
        root=shlex.quote(str(root)),
        job=json.dumps(_with_whole_paths(job), indent=1),
    )


def _problems(job: TrainingJob, root: Path, catalog: Catalog) -> list[str]:
    problems = [*entry_point_problems(job), *channel_problems(job)]
    problems += cluster_problems(job, catalog)
    name = str(job.job_name)
    if len(name) > _LONGEST_NAME:
        problems.append(
            f"job_name {name!r} has {len(name)} characters, but may have {_LONGEST_NAME} on "
            "Slurm, which adds its own number. Shorten it."
        )
    if not root.is_absolute():
        problems.append(
            f"The folder of runs {str(root)!r} is not a whole path. Give one that all nodes "
            "share, from '/' on."
        )
    if not problems:
        problems = [
            f"Instance group {group.instance_group_name!r} is of {group.instance_type}, whose "
            "AWS Trainium chips Slurm has no common name for. Choose a type with NVIDIA GPUs."
            for group in job.cluster.instance_groups
            if needs_of(group.instance_type, catalog).neuron_devices
        ]
    return problems


def _component(group: InstanceGroup, role: Role, catalog: Catalog) -> str:
    """Return what one instance group asks for."""
    needs = needs_of(group.instance_type, catalog)
    options = [
        f"--nodes={group.instance_count}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={needs.cpus}",
        f"--mem={needs.memory_gib}G",
        *([f"--gpus-per-node={needs.gpus}"] if needs.gpus else []),
    ]
    does = "trains" if role == "train" else "prepares data"
    does = "runs the script" if group.runs else does
    return (
        f"# {group.instance_group_name}: {group.instance_count} x {group.instance_type}, "
        f"{does}\n#SBATCH {' '.join(options)}"
    )


def _with_whole_paths(job: TrainingJob) -> dict[str, object]:
    """Return the job as JSON knows it, with paths that do not depend on the current folder."""
    whole = job.model_copy(
        update={
            "entry_point": str(Path(job.entry_point).absolute()),
            "channels": tuple(
                channel.model_copy(update={"source": str(Path(channel.source).absolute())})
                for channel in job.channels
            ),
        }
    )
    return whole.model_dump(mode="json", exclude_defaults=True)
