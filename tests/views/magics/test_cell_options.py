"""A cell takes what the command line takes, under the same names."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtc_lab.cli.compare import compare
from smtc_lab.errors import SpecError
from smtc_lab.views.cell.cell_error import CellError
from smtc_lab.views.cell.jobs import described_jobs
from smtc_lab.views.cell.options import CELL, OPTIONS, LaunchCommand, split

OF_A_SHELL = {"script", "arguments", "json_file", "report", "on", "runs_dir", "quiet"}


def test_every_option_of_compare_that_is_not_about_files_is_one_of_cells() -> None:
    of_cells = {param.name for param in OPTIONS}

    assert {param.name for param in compare.params} - OF_A_SHELL <= of_cells
    assert of_cells - {param.name for param in compare.params} == {
        "devices",
        "wait",
        "no_detach",
        "into",
        "help",
    }


def test_prices_scale_and_several_distributions_describe_jobs() -> None:
    line = (
        "--cluster a=ml.c5.9xlarge:1 --scale 0.01 --price ml.c5.9xlarge=1.5@2026-11-01 "
        "--data 1,2 --seed 3 -e LR=0.1 -- --dummy"
    )
    context = LaunchCommand(takes_file=False).parsed(split(line, prog=CELL))

    jobs, catalog = described_jobs(context, Path("cell.py"))

    assert [job.cluster.label for job in jobs] == ["one trainer", "data 2"]
    assert {job.emulation and job.emulation.cores_per_vcpu for job in jobs} == {0.01}
    assert {(job.seed, job.arguments) for job in jobs} == {(3, ("--dummy",))}
    assert jobs[0].environment["LR"] == "0.1"
    assert str(Path.cwd()) in jobs[0].environment["PYTHONPATH"]
    assert catalog.get("ml.c5.9xlarge").price.usd_per_hour == 1.5


def test_a_refusal_names_the_option_that_is_wrong() -> None:
    context = LaunchCommand(takes_file=False).parsed(
        ["--steps", "0", "--link", "between=nothing"]
    )

    with pytest.raises(SpecError) as refused:
        described_jobs(context, Path("cell.py"))

    assert any(problem.startswith("--steps: ") for problem in refused.value.problems)
    assert any(problem.startswith("--link ") for problem in refused.value.problems)


def test_what_was_taken_out_is_refused_with_the_reason() -> None:
    with pytest.raises(CellError, match="--reduce-on was taken out"):
        LaunchCommand(takes_file=False).parsed(["--reduce-on", "data"])
