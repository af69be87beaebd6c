from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from IPython.core.formatters import DisplayFormatter

from smtc_lab.spec.channel import Channel
from smtc_lab.spec.emulation import Emulation
from smtc_lab.testing.comparison_runs import HETEROGENEOUS, HOMOGENEOUS, example_job
from smtc_lab.testing.comparisons import example_comparison
from smtc_lab.testing.records import run_records
from smtc_lab.testing.run_folders import write_run_folder
from smtc_lab.views.display import register_formatters, to_html

if TYPE_CHECKING:
    from pathlib import Path

    from smtc_lab.metrics.comparison import Comparison

HOSTILE = "<img src=x onerror=alert(1)>{{7*7}}</style><script>"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return example_comparison()[0]


def _text(html: str) -> str:
    without_style = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", without_style).split()).replace("\u00a0", " ")


def _is_inert(html: str) -> bool:
    return not re.search(r"<script|<iframe|<svg|<link|\son\w+=|https?:", html)


def test_a_comparison_shows_verdict_table_and_figure(comparison: Comparison) -> None:
    html = to_html(comparison)

    text = _text(html)
    assert text.startswith(comparison.verdict)
    assert "emulated scale model: 1 vCPU = 0.031 cores" in text
    assert "s/step 0.609 (0.594\u20130.623) 0.104 (0.103\u20130.106)" in text
    assert "prices: ml.p3.2xlarge $3.825/h historical 2022-10-27" in text
    assert html.count("<img ") == 1
    assert 'src="data:image/png;base64,' in html
    assert 'alt="Mean step time (emulated): homogeneous' in html
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
    assert "data_group 1 \u00d7 ml.c5.9xlarge by its type" in text
    assert "steps 120" in text
    assert "channel images data/images" in text
    assert "emulated 1 vCPU = 0.031 cores, device 40 ms per step" in text
    assert "Hyperparameters batch-size 32 learning-rate 0.01" in text


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
    assert "steps until the script ends" in text
    assert "emulated scale chosen at launch, no device" in text


def test_a_cluster_shows_its_groups() -> None:
    text = _text(to_html(example_job(HOMOGENEOUS).cluster))

    assert text == (
        "Cluster homogeneous: homogeneous, 1 instance instance group instances role "
        "dnn_group 1 \u00d7 ml.p3.2xlarge by its type"
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


def test_hostile_names_are_text(comparison: Comparison) -> None:
    job = example_job(HOMOGENEOUS).model_copy(
        update={"job_name": HOSTILE, "entry_point": HOSTILE, "hyperparameters": {"a": HOSTILE}}
    )
    hostile = comparison.model_copy(
        update={"verdict": HOSTILE, "entry_point": HOSTILE, "warnings": (HOSTILE,)}
    )

    for html in (to_html(job), to_html(hostile)):
        assert "<img src=x" not in html
        assert "<script" not in html
        assert html.count("</style>") == 1
        assert "&lt;img src=x onerror=alert(1)&gt;{{7*7}}" in html


def test_a_very_long_value_is_cut() -> None:
    job = example_job(HOMOGENEOUS).model_copy(update={"hyperparameters": {"a": "x" * 10_000}})

    assert "x" * 200 not in to_html(job)


def test_colours_follow_jupyterlabs_theme_with_fallbacks() -> None:
    html = to_html(example_job(HOMOGENEOUS).cluster)

    assert "var(--jp-ui-font-color1, inherit)" in html
    assert re.findall(r"var\(--jp-[\w-]+\)", html) == []


def test_formatters_are_registered_in_ipython() -> None:
    formatters = DisplayFormatter()
    cluster = example_job(HOMOGENEOUS).cluster

    register_formatters(SimpleNamespace(display_formatter=formatters))

    assert formatters.formatters["text/html"](cluster) == to_html(cluster)


def test_display_imports_neither_ipython_nor_matplotlib() -> None:
    code = (
        "import sys, smtc_lab.views.display;"
        "print({'IPython', 'matplotlib', 'torch'} & set(sys.modules))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "set()"
