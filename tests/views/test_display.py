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
    from tests.kit.golden_texts import GoldenTexts


INERT = {"div", "em", "li", "span", "strong", "ul"} | {
    f"@{name}" for name in ("aria-label", "class", "role", "style", "tabindex")
}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return example_comparison()[0]


def _text(html: str) -> str:
    """Return the texts between tags, each on a line."""
    lines = (" ".join(unescape(each).split()) for each in re.split(r"<[^>]*>", html))
    return "\n".join(line for line in lines if line)


def _is_inert(html: str) -> bool:
    return markup_of(html) <= INERT and not re.search("https?:", html)


def offers() -> ClusterOffers:
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
    found = by_cost([short, offer])
    return ClusterOffers(
        global_batch_size=8,
        optimizer="<b>AdamW",
        precision="fp32",
        utilization=Interval(mean=0.4, low=0.2, high=0.8, evidence="estimated"),
        utilization_source="given",
        flops_per_sample=1e9,
        offers=found,
        advice=advice_on(found, alone_bytes=2**30),
    )


def test_a_notebook_shows_what_its_objects_are(
    comparison: Comparison, tmp_path: Path, golden_texts: GoldenTexts
) -> None:
    usual = example_job(HETEROGENEOUS).model_copy(
        update={
            "emulation": Emulation(cores_per_vcpu=0.031, device_step_time_s=0.04),
            "channels": (Channel(channel_name="images", source="data/images"),),
        }
    )
    bare = example_job(HOMOGENEOUS).model_copy(
        update={
            "job_name": None,
            "hyperparameters": {},
            "max_steps": None,
            "emulation": Emulation(),
            "python_environment": "torch-2.9",
        }
    )
    run = run_records([0.2] * 5, state="Failed")
    folder = write_run_folder(tmp_path, run, reason="The script exited with 3.")
    shown = {
        "comparison": to_html(comparison),
        "job": to_html(usual),
        "job of which little is given": to_html(bare),
        "cluster": to_html(usual.cluster),
        "failed run": to_html(SimpleNamespace(folder=folder)),
        "clusters that fit a model": offers()._repr_html_(),
    }

    assert [name for name, html in shown.items() if not _is_inert(html)] == ["failed run"]
    assert markup_of(shown["failed run"]) <= INERT | {"@aria-hidden"}
    golden_texts("notebook", {name: _text(html) for name, html in shown.items()})


def test_a_comparison_has_one_picture_whose_text_is_its_verdict(comparison: Comparison) -> None:
    html = to_html(comparison)

    assert html.count("url(data:image/png;base64,") == 1
    assert f'role="img" aria-label="{comparison.verdict}"' in html.replace("\u00a0", " ")


def test_what_holds_a_comparison_shows_it(comparison: Comparison) -> None:
    assert to_html(SimpleNamespace(comparison=comparison)) == to_html(comparison)


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
