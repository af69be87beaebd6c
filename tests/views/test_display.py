from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from smtc_lab.metrics.finding import caution
from smtc_lab.metrics.memory.cluster_offer import ClusterOffer, by_cost
from smtc_lab.metrics.memory.offer_words import advice_on
from smtc_lab.metrics.memory.offers import ClusterOffers
from smtc_lab.metrics.result import Interval
from smtc_lab.spec.channel import Channel
from smtc_lab.spec.emulation import Emulation
from smtc_lab.views.display import to_html
from tests.kit.comparison_runs import HETEROGENEOUS, HOMOGENEOUS, example_job
from tests.kit.comparisons import example_comparison
from tests.kit.hostile import HOSTILE_TEXTS, markup_of
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.compared.comparison import Comparison


INERT = {"div", "em", "li", "span", "strong", "ul"} | {
    f"@{name}" for name in ("aria-label", "class", "role", "style", "tabindex")
}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return example_comparison()[0]


def _text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split()).replace("\u00a0", " ")


def _is_inert(html: str) -> bool:
    return markup_of(html) <= INERT and not re.search("https?:", html)


def test_a_comparison_shows_verdict_table_and_figure(comparison: Comparison) -> None:
    html = to_html(comparison)

    text = _text(html)
    assert text.startswith(comparison.verdict)
    assert "emulated , scale model: 1 vCPU = 0.031 cores" in text
    assert (
        "s/step: homogeneous 0.609 (0.594\u20130.623) | heterogeneous 0.104 (0.103\u20130.106)"
    ) in text
    assert "prices: ml.p3.2xlarge $3.825/h historical 2022-10-27" in text
    assert html.count("url(data:image/png;base64,") == 1
    assert f'role="img" aria-label="{comparison.verdict}"' in html.replace("\u00a0", " ")
    assert _is_inert(html)


def test_what_holds_a_comparison_shows_it(comparison: Comparison) -> None:
    assert to_html(SimpleNamespace(comparison=comparison)) == to_html(comparison)


def test_a_job_shows_groups_settings_and_hyperparameters() -> None:
    job = example_job(HETEROGENEOUS).model_copy(
        update={
            "emulation": Emulation(cores_per_vcpu=0.031, device_step_time_s=0.04),
            "channels": (Channel(channel_name="images", source="data/images"),),
        }
    )

    text = _text(to_html(job))

    assert "Cluster heterogeneous: heterogeneous, 2 instances" in text
    assert "data_group: instances 1 \u00d7 ml.c5.9xlarge | role by its type" in text
    assert "steps: 120" in text
    assert "channel images: data/images" in text
    assert "emulated: 1 vCPU = 0.031 cores, device 40 ms per step" in text
    assert "Hyperparameters batch-size: 32 learning-rate: 0.01" in text


def test_a_job_shows_the_environment_that_it_names() -> None:
    job = example_job(HOMOGENEOUS)
    named = job.model_copy(update={"python_environment": "torch-2.9"})

    assert "Python environment: torch-2.9" in _text(to_html(named))
    assert "Python environment" not in _text(to_html(job))


def test_a_job_without_a_name_or_hyperparameters_says_so() -> None:
    job = example_job(HOMOGENEOUS).model_copy(
        update={
            "job_name": None,
            "hyperparameters": {},
            "max_steps": None,
            "emulation": Emulation(),
        }
    )

    text = _text(to_html(job))

    assert text.startswith("Training job without a name")
    assert "Hyperparameters" not in text
    assert "steps: until the script ends" in text
    assert "emulated: scale chosen at launch, no device" in text


def test_a_cluster_shows_its_groups() -> None:
    text = _text(to_html(example_job(HOMOGENEOUS).cluster))

    assert text == (
        "Cluster homogeneous: homogeneous, 1 instance instance group : instances | role "
        "dnn_group: instances 1 \u00d7 ml.p3.2xlarge | role by its type"
    )


def test_a_run_shows_state_reason_and_steps(tmp_path: Path) -> None:
    records = run_records([0.2] * 5, state="Failed")
    folder = write_run_folder(tmp_path, records, reason="The script exited with 3.")

    text = _text(to_html(SimpleNamespace(folder=folder)))

    assert text.startswith("train-r1 Failed The script exited with 3.")
    assert "steps: 5" in text


def test_anything_else_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match=r"type 'int' has no rich display. Give a Comparison"):
        to_html(3)


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_hostile_names_are_text(text: str) -> None:
    job = example_job(HOMOGENEOUS)
    hostile = job.model_copy(
        update={
            "job_name": text,
            "entry_point": text,
            "hyperparameters": {text: text},
            "cluster": job.cluster.model_copy(update={"name": text}),
        }
    )

    html = to_html(hostile)

    assert _is_inert(html)


def test_a_hostile_verdict_is_text(comparison: Comparison) -> None:
    text = "<img src=x onerror=alert(1)>{{7*7}}</style><script>"

    html = to_html(
        comparison.model_copy(update={"verdict": text, "findings": (caution("it", text),)})
    )

    assert _is_inert(html)
    assert "&lt;img src=x onerror=alert(1)&gt;{{7*7}}" in html


def test_a_very_long_value_is_cut() -> None:
    job = example_job(HOMOGENEOUS).model_copy(update={"hyperparameters": {"a": "x" * 10_000}})

    assert "x" * 200 not in to_html(job)


def test_display_imports_neither_ipython_nor_matplotlib() -> None:
    code = (
        "import sys, smtc_lab.views.display;"
        "print({'IPython', 'matplotlib', 'torch'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"


def test_clusters_that_fit_a_model_are_a_table_with_its_reason_first() -> None:
    offer = ClusterOffer(
        instance_type="ml.g6.xlarge",
        instance_count=1,
        accelerator="NVIDIA L4",
        devices=1,
        strategy="one device",
        data=1,
        batch_size=8,
        peak_bytes=2**30,
        usable_bytes=20 * 2**30,
        step_s=Interval(mean=0.5, low=0.25, high=1.0, evidence="estimated"),
        usd_per_hour=1.127,
        price_kind="list",
    )
    short = offer.model_copy(update={"peak_bytes": 21 * 2**30, "instance_count": 2})
    offers = by_cost([short, offer])
    found = ClusterOffers(
        global_batch_size=8,
        optimizer="<b>AdamW",
        precision="fp32",
        utilization=Interval(mean=0.4, low=0.2, high=0.8, evidence="estimated"),
        utilization_source="given",
        flops_per_sample=1e9,
        offers=offers,
        advice=advice_on(offers, alone_bytes=2**30),
    )
    html = found._repr_html_()
    text = _text(html)

    assert text.startswith("The cheapest that fits is 1 x ml.g6.xlarge (1 x NVIDIA L4)")
    assert "0.5 s (0.25-1)" in text
    assert "$0.157 (0.0783-0.313)" in text
    assert "1 GiB short" in text
    assert "estimated at 0.4 (0.2-0.8) of the devices' peak" in unescape(text)
    assert "<b>" not in html
    assert _is_inert(html)
