from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from smtc_lab.catalog.catalog import Catalog
from smtc_lab.metrics.compared.compare import compare_runs
from smtc_lab.metrics.parity import ParityResult
from smtc_lab.metrics.records.recorded_environment import RecordedEnvironment
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.views.report.html import report_html
from smtc_lab.views.text.environments import differences_sentence
from smtc_lab.views.text.table import comparison_table
from tests.kit.records import jittered, run_records

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.metrics.records.records import RunRecords
    from tests.kit.golden_texts import GoldenTexts

CLUSTER = "{}@dnn_group=ml.p3.2xlarge:1"
TODAY = RecordedEnvironment(
    name="today",
    python="3.12.1",
    packages={"torch": "2.15.0", "numpy": "2.4.6", "triton": "3.9.0", "same": "1"},
)
OLD = RecordedEnvironment(
    name="old", python="3.11.7", packages={"torch": "2.9.1", "numpy": "2.4.0", "same": "1"}
)
EQUAL = ParityResult(verdict="equal to eager within its own noise", equal=True, steps=8)


def run(
    label: str, environment: RecordedEnvironment | None, *, backend: str | None = None
) -> RunRecords:
    records = run_records(
        jittered(0.2), cluster=CLUSTER.format(label), job_name=re.sub(r"[^a-z]", "", label)
    )
    config = None if backend is None else TrainingCompilerConfig(backend=backend)
    job = records.job.model_copy(
        update={
            "python_environment": None if environment is None else environment.name,
            "compiler_config": config,
        }
    )
    return replace(records, job=job, environment=environment)


def compared(*runs: RunRecords, parity: dict[str, ParityResult] | None = None) -> Comparison:
    return compare_runs(
        runs,
        catalog=Catalog.load(),
        created="2026-11-22T00:00:00+00:00",
        machine={},
        parity=parity,
    )


def test_two_environments_are_told_apart_by_package() -> None:
    comparison = compared(run("a", TODAY), run("b", OLD), parity={"b": EQUAL})

    first, second = (cluster.environment for cluster in comparison.clusters)
    assert first is not None
    assert second is not None
    assert (first.name, first.torch, first.parity) == ("today", "2.15.0", None)
    assert (second.name, second.python, second.parity) == ("old", "3.11.7", EQUAL)
    differing = {one.package: one.versions for one in comparison.package_differences}
    assert list(differing) == ["python", "torch", "numpy", "triton"]
    assert differing["torch"] == ("2.15.0", "2.9.1")
    assert differing["triton"] == ("3.9.0", None)


def test_one_environment_is_no_news() -> None:
    comparison = compared(run("a", TODAY), run("b", TODAY))

    assert [cluster.environment for cluster in comparison.clusters] == [None, None]
    assert comparison.package_differences == ()
    assert "environment" not in comparison_table(comparison).lower()
    assert "Python environments" not in report_html(comparison, [])


def test_an_unknown_environment_gives_no_differences() -> None:
    comparison = compared(run("a", None), run("b", OLD))

    assert comparison.clusters[0].environment is None
    assert comparison.clusters[1].environment is not None
    assert comparison.package_differences == ()
    assert "unknown" in comparison_table(comparison)


def test_the_compiler_and_the_version_each_have_their_merit() -> None:
    comparison = compared(
        run("eager", TODAY, backend="eager"),
        run("eager, torch 2.9", OLD, backend="eager"),
        run("xla", OLD, backend="xla"),
    )

    told = {(one.factor, one.first, one.second) for one in comparison.factors}
    assert told == {
        ("python_environment", "eager", "eager, torch 2.9"),
        ("backend", "eager, torch 2.9", "xla"),
    }
    (version,) = (one for one in comparison.factors if one.factor == "python_environment")
    assert (version.before, version.after) == ("today (torch 2.15.0)", "old (torch 2.9.1)")


def test_the_table_names_environments_and_what_differs(golden_texts: GoldenTexts) -> None:
    many = {f"package-{number}": "1" for number in range(20)}
    first = TODAY.model_copy(update={"packages": TODAY.packages | many})
    two = compared(run("a", TODAY), run("b", OLD), parity={"b": EQUAL})

    golden_texts(
        "environments",
        {
            "table": comparison_table(two),
            "many differences": differences_sentence(compared(run("a", first), run("b", OLD))),
        },
    )


def test_the_report_lists_every_package_that_differs() -> None:
    page = report_html(compared(run("a", TODAY), run("b", OLD)), [])

    assert page.index("Packages whose versions differ") < page.index("one of them lacks")
    assert "<td>3.9.0</td><td>not installed</td>" in page
    assert ">same<" not in page
