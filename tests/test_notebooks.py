"""Every notebook runs through papermill, with parameters that make it short."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import papermill
import pytest
import torch

from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.scaling.scaling import Scaling
from smtc_lab.planner.spot.result import SpotForecast
from smtc_lab.store.run_folder import find_runs
from smtc_lab.views.study.snapshot import COMPARISON_MIME

if TYPE_CHECKING:
    from collections.abc import Callable

    import nbformat

WIDGET = "application/vnd.jupyter.widget-view+json"
NOTEBOOKS = Path(__file__).parent.parent / "notebooks"

pytestmark = [pytest.mark.notebook, pytest.mark.timeout(300)]


@pytest.fixture
def execute(tmp_path: Path) -> Callable[..., nbformat.NotebookNode]:
    def run(name: str, **parameters: object) -> nbformat.NotebookNode:
        return papermill.execute_notebook(
            str(NOTEBOOKS / f"{name}.ipynb"),
            str(tmp_path / f"{name}.ipynb"),
            parameters=parameters,
            cwd=str(tmp_path),
            progress_bar=False,
            kernel_name="python3",
        )

    return run


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
    ]


def printed(notebook: nbformat.NotebookNode) -> str:
    return "".join(output.get("text", "") for output in outputs(notebook))


def shown(notebook: nbformat.NotebookNode) -> list[dict[str, Any]]:
    return [output["data"] for output in outputs(notebook) if "data" in output]


def shown_as_html(notebook: nbformat.NotebookNode) -> str:
    return "".join(data.get("text/html", "") for data in shown(notebook))


@pytest.mark.filterwarnings("default")
def test_compare_clusters_writes_the_comparison_and_shows_the_verdict(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    # Of equal size: an instance with a small part of two cores would take long to start.
    trainer = "dnn_group=ml.p3.2xlarge:1"
    clusters = [f"homogeneous@{trainer}", f"heterogeneous@{trainer},data_group=ml.c5.2xlarge:1"]
    short = {"steps": 8, "rounds": 1, "work": 1, "batch_size": 16, "plan_seconds": 0.2}

    notebook = execute("compare_clusters", clusters=clusters, **short, out_dir="out")

    comparison = Comparison.from_json((tmp_path / "out" / "comparison.json").read_text())
    assert [cluster.name for cluster in comparison.clusters] == ["homogeneous", "heterogeneous"]
    assert comparison.verdict in printed(notebook)
    assert "launch 2 of 2: heterogeneous" in printed(notebook)
    said = (tmp_path / "out" / "plan.txt").read_text()
    assert said.startswith("               step, predicted")
    assert "The plan and the comparison " in said
    assert "With a device time of 0.05 s: Device-bound" in said
    assert said.strip() in printed(notebook)
    assert "stderr" not in {output.get("name") for output in outputs(notebook)}  # it is red
    kept = [data[COMPARISON_MIME] for data in shown(notebook) if COMPARISON_MIME in data]
    assert [len(each["info"]["launched"]) for each in kept] == [2]
    assert "heterogeneous" in shown_as_html(notebook)
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert (tmp_path / "out" / "figures" / "overview.png").is_file()
    assert (tmp_path / "out" / "figures" / "overview.svg").is_file()


@pytest.mark.filterwarnings("default")
def test_scaling_tells_how_a_job_grows_alone_and_fed(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute("scaling", devices=[1, 2], steps=6, rounds=1, out_dir="out")

    scaling = Scaling.from_json((tmp_path / "out" / "scaling.json").read_text())
    assert [curve.name for curve in scaling.curves] == ["alone", "fed"]
    assert [[p.devices for p in curve.points] for curve in scaling.curves] == [[1, 2]] * 2
    assert scaling.verdict in printed(notebook)
    assert "USD an epoch" in printed(notebook)
    kept = [data[COMPARISON_MIME] for data in shown(notebook) if COMPARISON_MIME in data]
    assert [each["kind"] for each in kept] == ["scaling"]
    assert "weak efficiency" in shown_as_html(notebook)
    assert "exposed communication (ms/step)" in shown_as_html(notebook)
    assert "held up: Trainers wait in " in printed(notebook)
    assert (tmp_path / "out" / "scaling.png").stat().st_size > 10_000


def test_experiments_are_tracked_compared_and_repeated(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute("experiments", learning_rates=[0.001, 0.1], steps=20, out_dir="out")

    runs = {folder.job_name for folder in find_runs(tmp_path / "out" / "runs")}
    assert len(runs) == 4  # two, one by hand, and one again
    assert len(find_runs(tmp_path / "out" / "elsewhere")) == 1
    assert "hyperparameters" in printed(notebook) or "arguments" in printed(notebook)
    text = json.dumps(shown(notebook))
    assert "accuracy" in text
    assert "loss.min" in text
    csv = (tmp_path / "out" / "runs.csv").read_text()
    assert "metric.loss" in csv
    assert "by hand" in csv


def test_a_model_larger_than_a_device_is_cut_trained_and_mended(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute("model_parallel", steps=8, rounds=1, out_dir="out")

    text = printed(notebook)
    assert "One device would need 41 MB; an emulated one here has 17 MB." in text
    assert "times as fast as one device" in text
    assert "The 2 ranks of the pipeline are idle for " in text
    assert "put layers.1.self_attn on stage 0, and compare." in text
    assert "75 tensors; loss " in text
    assert "shards" in shown_as_html(notebook)
    (kept,) = [data for data in shown(notebook) if WIDGET in data]
    assert "of the step" in kept["text/plain"]
    assert (tmp_path / "out" / "stages.png").stat().st_size > 10_000


def test_a_spot_job_is_forecast_interrupted_and_laid_over_the_forecast(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute("spot", steps=30, kills=1, seed=1, out_dir="out")

    text = printed(notebook)
    assert "this job saves every" in text
    assert "attempt 1: " in text
    assert re.search(r"billed [0-9.]+ s: start ", text)
    assert "weights are equal" in text
    assert "Equal: killed once" in text
    assert "What each policy costs and when it ends" in shown_as_html(notebook)
    assert "url(data:image/png;base64," in shown_as_html(notebook)
    assert (tmp_path / "out" / "forecast.png").stat().st_size > 10_000
    beside = SpotForecast.from_json((tmp_path / "out" / "forecast.json").read_text())
    (measured,) = beside.measured
    assert measured.finish_s == pytest.approx(measured.billed_s + measured.waiting_s)


def test_a_network_is_tuned_killed_and_priced_elsewhere(
    execute: Callable[..., nbformat.NotebookNode],
) -> None:
    pytest.importorskip("optuna")
    notebook = execute("tuning", trials=3, samples=128, seconds_per_point=0.1, out_dir="out")

    text = printed(notebook)
    assert "Failed ['Completed', 'InProgress']" in text
    assert re.search(r"3 trials, [0-9.]+ USD of 2 spent", text)
    assert "USD, 80 %" in text
    assert re.search(r"predicted [0-9.e-]+ USD \([0-9.e-]+ to [0-9.e-]+\), measured", text)
    assert "The least loss is" in shown_as_html(notebook)


def test_compare_clusters_takes_any_script_and_prices(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "from smtc_lab.runtime.instance_runtime import instance_runtime\n"
        "timer = instance_runtime().timer\n"
        "while not timer.is_done:\n"
        "    timer.ask(); timer.got(1); timer.end()\n",
        encoding="utf-8",
    )

    execute(
        "compare_clusters",
        entry_point=str(script),
        clusters=["only@dnn_group=ml.p4d.24xlarge:1"],
        prices={"ml.p4d.24xlarge": [37.688, "2022-10-27"]},
        steps=12,
        rounds=1,
        plan_seconds=0,
        device_step_time_s=None,
        out_dir="out",
    )

    (cluster,) = json.loads((tmp_path / "out" / "comparison.json").read_text())["clusters"]
    assert cluster["usd_per_hour"] == 37.688
    assert cluster["instance_groups"][0]["price_kind"] == "user"


@pytest.mark.filterwarnings("default")
@pytest.mark.soak
def test_published_tables_lays_both_experiments_beside_the_published_ones(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute("published_tables", steps=4, rounds=1, out_dir="out")

    result = json.loads((tmp_path / "out" / "published_tables.json").read_text())
    assert [row["experiment"] for row in result["tables"]] == ["pytorch", "tensorflow"]
    assert [row["published_speedup"] for row in result["tables"]] == pytest.approx(
        [6.4837, 2.2326], abs=1e-4
    )
    assert [row["published_saving_fraction"] for row in result["tables"]] == pytest.approx(
        [0.7717, 0.4648], abs=1e-4
    )
    assert {row["evidence"] for row in result["tables"]} == {"emulated"}
    assert "pytorch: speed-up" in printed(notebook)


@pytest.mark.filterwarnings("default")
@pytest.mark.soak
def test_bench_overhead_writes_figures_in_the_common_form(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    execute("bench_overhead", repeats=1, steps=500, sampler_s=0.5, json_file="out/bench.json")

    result = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert set(result) == {"machine", "versions", "figures"}
    for figure in result["figures"]:
        assert set(figure) == {
            "name",
            "value",
            "low",
            "high",
            "unit",
            "peer",
            "goal",
            "better",
            "holds",
        }
        assert figure["value"] >= 0


@pytest.mark.soak
def test_bench_dataservice_compares_the_peers_and_writes_its_figures(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute(
        "bench_dataservice",
        repeats=1,
        seconds=0.05,
        peers=["raw", "ours_tcp"],
        payloads=["a"],
        servers=[1, 2],
        json_file="figures.json",
    )

    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    names = {figure["name"] for figure in written["figures"]}
    assert {
        "throughput of ours_tcp, payload a",
        "client CPU of ours_tcp, payload a",
        "loss with 2 servers",
        "tiny batches from two data workers",
    } <= names
    assert "ours_tcp" in printed(notebook)


@pytest.mark.filterwarnings("default")
def test_compare_compilers_writes_the_comparison_and_shows_the_verdict(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute(
        "compare_compilers",
        hyperparameters={"work": 0, "batch_size": 4},
        backends=["eager", "inductor"],
        ablation=False,
        parity=False,
        steps=12,
        rounds=1,
        out_dir="out",
    )

    comparison = Comparison.from_json((tmp_path / "out" / "comparison.json").read_text())
    assert [cluster.name for cluster in comparison.clusters] == ["eager", "inductor"]
    compiled = comparison.clusters[1].compiler
    assert compiled is not None
    assert compiled.backends == ("inductor",)
    assert comparison.verdict in printed(notebook)
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000


@pytest.mark.soak
def test_bench_compiler_compares_set_ups_and_writes_its_figures(
    execute: Callable[..., nbformat.NotebookNode], tmp_path: Path
) -> None:
    notebook = execute(
        "bench_compiler",
        models=["mnist_cnn"],
        set_ups=["plain", "eager"],
        repeats=1,
        steps=2,
        by_blocks=[],
        profile_models=[],
        json_file="figures.json",
    )

    written = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    names = {figure["name"] for figure in written["figures"]}
    assert "eager on mnist_cnn" in names
    assert "There is no CUDA device here" in printed(notebook) or torch.cuda.is_available()


@pytest.mark.filterwarnings("default")
def test_the_tour_compares_clusters_and_compilers_and_runs_a_cell(
    execute: Callable[..., nbformat.NotebookNode],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMTC_LAB_HOME", str(tmp_path / "home"))

    # with so few steps left, auto does not spend time on a compiler
    notebook = execute(
        "tour", steps=4, rounds=1, backends="eager,auto", compiled_steps=4, cell_steps=3
    )

    verdicts = [line for line in printed(notebook).splitlines() if line.strip()]
    assert "heterogeneous" in verdicts[0]
    assert {"auto", "eager"} <= set(re.findall("[a-z]+", verdicts[1]))
    table = shown_as_html(notebook)
    runs = [folder.job_name for folder in find_runs(tmp_path / "home" / "runs")]
    assert len(runs) == 5  # two clusters, two compilers, one cell
    listed = [name for name in runs if f">{name}<" in table]
    assert len(listed) == 1  # the cell's; the launches of the two comparisons are theirs
    assert table.count("</span>Completed<") == 3
    assert table.count("2 launches") == 2
