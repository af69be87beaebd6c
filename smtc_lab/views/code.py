"""Writes the lines of a notebook that do what a form does.

Each text can be executed, and gives back a spec that is equal to the one it was written from.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from smtc_lab.errors import SpecError
from smtc_lab.launch.compare import DEFAULT_ROUNDS
from smtc_lab.launch.compare_compilers import this_machine
from smtc_lab.spec.base import Strict
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.jobs import described_jobs
from smtc_lab.views.cell.options import CELL, launch_parser
from smtc_lab.views.code_layout import Call, Dictionary, Listing, Node, laid_out, literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from smtc_lab.spec.job import TrainingJob

_IMPORT = "import smtc_lab as lab\n"
_BY_POSITION = frozenset(InstanceGroup.model_fields) - {"role"}
"""Fields that SageMaker's users give by position."""


def cluster_code(cluster: Cluster) -> str:
    """Return the Python that makes a cluster, named ``cluster``."""
    return _program(laid_out("cluster = ", _node(cluster)))


def compiler_code(config: TrainingCompilerConfig | None) -> str:
    """Return the Python that makes compiler settings, named ``config``."""
    if config is None:
        return "config = None  # plain PyTorch\n"
    return _program(laid_out("config = ", _node(config)))


def job_code(job: TrainingJob) -> str:
    """Return the Python that launches a job, and shows its run."""
    return _program(laid_out("job = ", _node(job)), "run = lab.launch(job)", "run")


def compare_code(jobs: Sequence[TrainingJob], rounds: int = DEFAULT_ROUNDS) -> str:
    """Return the Python that starts a comparison of jobs, and shows it live.

    Args:
        jobs: One for each set-up, the baseline first; at least one.
        rounds: Launches of each.
    """
    given = {} if rounds == DEFAULT_ROUNDS else {"rounds": str(rounds)}
    compared = laid_out("comparison = ", Call("lab.launch_comparison", ("jobs",), given))
    if len({job.model_dump_json(exclude={"cluster"}) for job in jobs}) > 1:
        listing = Listing(tuple(_node(job) for job in jobs))
        return _program(laid_out("jobs = ", listing), compared, "comparison")
    clusters = Listing(tuple(_node(job.cluster) for job in jobs))
    job = _node(jobs[0], cluster="cluster")
    return _program(
        laid_out("clusters = ", clusters),
        f"jobs = [\n{laid_out('    ', job)}\n    for cluster in clusters\n]",
        compared,
        "comparison",
    )


def magic_line(job: TrainingJob) -> str | None:
    """Return the ``%%smtc`` line that runs a cell like a job; the cell is its entry point.

    Returns:
        None where the options of ``%%smtc`` cannot say all of the job.
    """
    words = _words(job)
    line = " ".join([CELL, *map(shlex.quote, words)])
    # IPython replaces what looks like a variable in a line
    is_plain = line.isprintable() and not set("{}$") & set(line)
    return line if is_plain and _is_said(job, words) else None


def _words(job: TrainingJob) -> list[str]:
    words = []
    if job.cluster.instance_groups != this_machine().instance_groups:
        name = f"{job.cluster.name}@" if job.cluster.name and not job.compiler_config else ""
        words += ["--cluster", f"{name}{job.cluster}"]
    config, emulation = job.compiler_config, job.emulation
    if config is not None:
        usual = TrainingCompilerConfig()
        words += ["--compiler", config.backend]
        for name in ("precision", "fallback"):
            value = getattr(config, name)
            words += [] if value == getattr(usual, name) else [f"--{name}", value]
    if job.max_steps is not None:
        words += ["--steps", str(job.max_steps)]
    if emulation is not None and emulation.device_step_time_s is not None:
        words += ["--device-time", repr(emulation.device_step_time_s)]
    for item, value in job.hyperparameters.items():
        words += ["-p", f"{item}={_hyperparameter_text(value)}"]
    return words


def _is_said(job: TrainingJob, words: list[str]) -> bool:
    """Return whether a line makes that job; names are only labels where compilers differ."""
    try:
        options = launch_parser(takes_file=False).parse_args(words)
        (made,) = described_jobs(options, Path("cell.py"))
    except (CellError, SpecError):
        return False
    same: dict[str, object] = {
        "entry_point": job.entry_point,
        "environment": job.environment,
    }
    if job.compiler_config is not None or not options.cluster:
        same |= {"cluster": made.cluster.model_copy(update={"name": job.cluster.name})}
    return job.environment in ({}, made.environment) and made.model_copy(update=same) == job


def _hyperparameter_text(value: JsonValue) -> str:
    """Return what ``parse_hyperparameter`` reads as the value; plain text where it can be."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return text
    try:
        json.loads(value)
    except ValueError:
        return value
    return text


def _node(spec: Strict, **instead: str) -> Node:
    """Return the call that makes a spec; values that are the default are left out.

    Args:
        spec: Any part of a spec.
        **instead: Fields that are written as the given expression.
    """
    positional: list[Node] = []
    by_name: dict[str, Node] = {}
    for name, field in type(spec).model_fields.items():
        value = getattr(spec, name)
        if name in instead:
            by_name[name] = instead[name]
        elif field.is_required() or value != field.get_default(call_default_factory=True):
            if isinstance(spec, InstanceGroup) and name in _BY_POSITION:
                positional.append(_value(value))
            else:
                by_name[name] = _value(value)
    return Call(f"lab.{type(spec).__name__}", tuple(positional), by_name)


def _value(value: object) -> Node:
    if isinstance(value, Strict):
        return _node(value)
    if isinstance(value, tuple):
        return Listing(tuple(_value(item) for item in value))
    if isinstance(value, dict):
        return Dictionary({name: literal(item) for name, item in value.items()})
    return literal(value)


def _program(*statements: str) -> str:
    return "\n".join([_IMPORT, *statements]) + "\n"
