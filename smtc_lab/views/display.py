"""Rich display in a notebook: comparisons, jobs, clusters and runs as small pieces of HTML."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from smtc_lab.metrics.batch_sizes import BatchSizes
from smtc_lab.metrics.comparison import Comparison
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.views import format as fmt
from smtc_lab.views.batch_sizes import batch_sizes_text
from smtc_lab.views.bundle import run_end_html
from smtc_lab.views.rendering import png_uri, render
from smtc_lab.views.run_snapshot import take_snapshot
from smtc_lab.views.table import INTERVAL_NOTE, comparison_rows, table_title
from smtc_lab.views.words import (
    cost_sentence,
    price_line,
    scale_line,
    step_time_finding,
    tells_cost,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_VALUE = 120

_SHOWN_TYPES = (
    ("smtc_lab.metrics.batch_sizes", "BatchSizes"),
    ("smtc_lab.metrics.comparison", "Comparison"),
    ("smtc_lab.launch.compare", "ComparisonOutcome"),
    ("smtc_lab.spec.job", "TrainingJob"),
    ("smtc_lab.spec.cluster", "Cluster"),
    ("smtc_lab.launch.run", "Run"),
)


def to_html(obj: object) -> str:
    """Return a comparison, batch sizes, a job, cluster or run as HTML for a notebook.

    Of an object that holds a ``comparison`` that one is shown.
    It follows JupyterLab's theme, holds no script, and fetches nothing.

    Raises:
        TypeError: The object is none of these.
    """
    comparison = getattr(obj, "comparison", obj)
    if isinstance(comparison, Comparison):
        return _comparison_html(comparison)
    if isinstance(obj, BatchSizes):
        return f"<pre>{html.escape(batch_sizes_text(obj))}</pre>"
    if isinstance(obj, TrainingJob):
        return _job_html(obj)
    if isinstance(obj, Cluster):
        return render("display_cluster.html.j2", cluster=obj, size=_size(obj))
    folder = getattr(obj, "folder", None)
    if isinstance(folder, RunFolder):
        return run_end_html(take_snapshot(folder))
    raise TypeError(
        f"An object of type {type(obj).__name__!r} has no rich display. Give a Comparison, "
        "BatchSizes, a TrainingJob, a Cluster or a run."
    )


def register_formatters(ipython: Any) -> None:  # noqa: ANN401  IPython's shell has no light type
    """Show comparisons, jobs, clusters and runs as HTML in this IPython shell.

    The types are registered by name, so none of their modules is imported before it is used.
    """
    formatter = ipython.display_formatter.formatters["text/html"]
    show: Callable[[object], str] = to_html
    for module, name in _SHOWN_TYPES:
        formatter.for_type_by_name(module, name, show)


def _comparison_html(comparison: Comparison) -> str:
    # matplotlib takes seconds to import; a job or a cluster is shown without it.
    from smtc_lab.views.cost_figures import overview_figure  # noqa: PLC0415
    from smtc_lab.views.frame import rendered  # noqa: PLC0415
    from smtc_lab.views.theme import NEUTRAL  # noqa: PLC0415

    figure = overview_figure(comparison, theme=NEUTRAL, framed=False)
    width, height = (round(inches * 100) for inches in figure.get_size_inches())
    return render(
        "display_comparison.html.j2",
        comparison=comparison,
        evidence=scale_line(comparison) or "on the hardware that is named",
        title=table_title(comparison),
        interval_note=INTERVAL_NOTE,
        names=[cluster.name for cluster in comparison.clusters],
        rows=comparison_rows(comparison),
        prices_line=price_line(comparison) if tells_cost(comparison) else "",
        image_uri=png_uri(rendered(figure, NEUTRAL, "png")),
        width=width,
        height=height,
        alt=(
            f"{step_time_finding(comparison)} {cost_sentence(comparison)}"
            if tells_cost(comparison)
            else step_time_finding(comparison)
        ),
    )


def _job_html(job: TrainingJob) -> str:
    settings: list[tuple[str, str]] = [
        ("entry point", job.entry_point),
        ("seed", str(job.seed)),
        ("steps", "until the script ends" if job.max_steps is None else f"{job.max_steps:,}"),
        ("compiler", "eager" if job.compiler_config is None else job.compiler_config.backend),
    ]
    settings.extend(
        (f"channel {channel.channel_name}", channel.source) for channel in job.channels
    )
    return render(
        "display_job.html.j2",
        job=job,
        title=job.job_name or "Training job without a name",
        size=_size(job.cluster),
        settings=[(name, _cut(value)) for name, value in settings + _emulation_facts(job)],
        hyperparameters=[
            (name, _cut(value if isinstance(value, str) else json.dumps(value)))
            for name, value in job.hyperparameters.items()
        ],
    )


def _emulation_facts(job: TrainingJob) -> list[tuple[str, str]]:
    if job.emulation is None:
        return []
    scale, device_s = job.emulation.cores_per_vcpu, job.emulation.device_step_time_s
    words = [
        "scale chosen at launch" if scale is None else f"1 vCPU = {fmt.number(scale)} cores",
        "no device" if device_s is None else f"device {fmt.seconds(device_s)} per step",
    ]
    return [("emulated", ", ".join(words))]


def _size(cluster: Cluster) -> str:
    kind = "heterogeneous" if cluster.is_heterogeneous else "homogeneous"
    return f"{kind}, {fmt.count(cluster.num_instances, 'instance')}"


def _cut(text: str) -> str:
    return fmt.plain(text, _LONGEST_VALUE)
