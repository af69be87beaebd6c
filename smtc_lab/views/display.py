"""Rich display in a notebook: comparisons, jobs, clusters and runs as small pieces of HTML."""

from __future__ import annotations

import json
import shlex
from html import escape

from smtc_lab.metrics.batch.batch_sizes import BatchSizes
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.memory import offer_words
from smtc_lab.metrics.memory.offers import ClusterOffers
from smtc_lab.metrics.result import evidence_of
from smtc_lab.metrics.tuning.found import TuningFound
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.store.run_folder import RunFolder
from smtc_lab.study.folder import StudyFolder
from smtc_lab.views.batch.sizes import batch_sizes_text
from smtc_lab.views.kinds import kind_at
from smtc_lab.views.text import format as fmt
from smtc_lab.views.text.emulated import of_jobs
from smtc_lab.views.text.rendering import render
from smtc_lab.views.tuning.text import tuning_text

_LONGEST_VALUE = 120


def to_html(obj: object) -> str:
    """Return a comparison, batch sizes, offers, a job, cluster, run or study as HTML.

    Of an object that holds a ``comparison`` that one is shown.
    It holds no script and no tag that nbconvert's sanitizer shows as text, and fetches nothing.

    Raises:
        TypeError: The object is none of these.
    """
    folder = getattr(obj, "folder", None)
    if isinstance(folder, RunFolder | StudyFolder):
        kind = kind_at(folder.path)
        shown: str = kind.html(kind.see(folder.path))
        return shown
    comparison = getattr(obj, "comparison", obj)
    if isinstance(comparison, Comparison):
        # it reads launches too, and takes half a second to import
        from smtc_lab.views.comparison.bundle import bundle_of  # noqa: PLC0415

        html: str = bundle_of(comparison)["text/html"]
        return html
    if isinstance(obj, BatchSizes | TuningFound):
        write = batch_sizes_text if isinstance(obj, BatchSizes) else tuning_text
        return f"<pre>{escape(write(obj))}</pre>"  # type: ignore[arg-type]  # each its own
    if isinstance(obj, TrainingJob):
        return _job_html(obj)
    if isinstance(obj, ClusterOffers):
        return _offers_html(obj)
    if isinstance(obj, Cluster):
        return render("display_cluster.html.j2", cluster=obj, size=_size(obj))
    raise TypeError(
        f"An object of type {type(obj).__name__!r} has no rich display. Give a Comparison, "
        "BatchSizes, ClusterOffers, a TrainingJob, a Cluster or a run."
    )


def _offers_html(offers: ClusterOffers) -> str:
    return render(
        "display_offers.html.j2",
        offers=offers,
        head=offer_words.HEAD,
        fitting=offer_words.rows(offers.offers),
        short=offer_words.short_rows(offers.offers),
    )


def _job_html(job: TrainingJob) -> str:
    settings: list[tuple[str, str]] = [
        ("entry point", job.entry_point),
        ("seed", str(job.seed)),
        ("steps", "until the script ends" if job.max_steps is None else f"{job.max_steps:,}"),
        *([("arguments", shlex.join(job.arguments))] if job.arguments else []),
        *_environment_facts(job),
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


def _environment_facts(job: TrainingJob) -> list[tuple[str, str]]:
    name = job.python_environment
    return [] if name is None else [("Python environment", name)]


def _emulation_facts(job: TrainingJob) -> list[tuple[str, str]]:
    if job.emulation is None or evidence_of(job) == "measured":
        return []
    return [("emulated", of_jobs([job]))]


def _size(cluster: Cluster) -> str:
    kind = "heterogeneous" if cluster.is_heterogeneous else "homogeneous"
    return f"{kind}, {fmt.count(cluster.num_instances, 'instance')}"


def _cut(text: str) -> str:
    return fmt.plain(text, _LONGEST_VALUE)
