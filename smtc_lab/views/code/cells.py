"""Writes the lines of a notebook that do what a form does.

Each text can be executed, and gives back a spec that is equal to the one it was written from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.spec.base import Strict
from smtc_lab.spec.cluster import Cluster, InstanceGroup
from smtc_lab.views.code.layout import Call, Dictionary, Listing, Node, laid_out, literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from smtc_lab.spec.compiler import TrainingCompilerConfig
    from smtc_lab.spec.distribution import Distribution
    from smtc_lab.spec.job import TrainingJob

_IMPORT = "import smtc_lab as lab\n"
_BY_POSITION = frozenset(InstanceGroup.model_fields) - {"role", "runs"}
"""Fields that SageMaker's users give by position."""


def cluster_code(cluster: Cluster) -> str:
    """Return the Python that makes a cluster, named ``cluster``."""
    return _program(laid_out("cluster = ", _node(cluster)))


def compiler_code(config: TrainingCompilerConfig | None) -> str:
    """Return the Python that makes compiler settings, named ``config``."""
    if config is None:
        return "config = None  # plain PyTorch\n"
    return _program(laid_out("config = ", _node(config)))


def distribution_code(distribution: Distribution) -> str:
    """Return the Python that makes what spreads a job, named ``distribution``."""
    return _program(laid_out("distribution = ", _node(distribution)))


def job_code(job: TrainingJob) -> str:
    """Return the Python that launches a job, and shows its run."""
    return _program(laid_out("job = ", _node(job)), "run = lab.launch(job)", "run")


def compare_code(jobs: Sequence[TrainingJob], rounds: int) -> str:
    """Return the Python that starts a comparison of jobs, and shows it live.

    Args:
        jobs: One for each set-up, the baseline first; at least one.
        rounds: Launches of each.
    """
    call = Call("lab.launch_comparison", ("jobs",), {"rounds": str(rounds)})
    compared = laid_out("comparison = ", call)
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


def scale_code(
    jobs: Sequence[TrainingJob], devices: Sequence[int], options: Mapping[str, object]
) -> str:
    """Return the Python that starts a scaling study of jobs, and shows it live.

    Args:
        jobs: One for each curve; at least one.
        devices: Numbers of devices.
        options: What ``launch_scaling`` is given beside them, by name.
    """
    listing = Listing(tuple(_node(job) for job in jobs))
    given = {"devices": repr(tuple(devices)), **{k: repr(v) for k, v in options.items()}}
    return _program(
        laid_out("jobs = ", listing),
        laid_out("scaling = ", Call("lab.launch_scaling", ("jobs",), given)),
        "scaling",
    )


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
