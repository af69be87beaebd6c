"""One number has one answer: in the list, on a dashboard, in what is kept, in the result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from smtc_lab.launchers.run import Run
from smtc_lab.metrics.compared.comparison import Comparison
from smtc_lab.metrics.measured_launch import measured_launch
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.text.table import comparison_rows
from tests.browser.lab_kit import Runs, lab_page, open_dashboard, show_runs
from tests.kit.runs import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

KEPT = "application/vnd.smtc-lab.comparison+json"
CELLS = r"""() => [...document.querySelectorAll('.smtc-set-ups tbody tr')].map(row => [
  row.children[0].textContent,
  // no line ends between a number and its per cent
  [...row.children].slice(1).map(cell => cell.innerText.replaceAll('\u00a0', ' '))])"""


@pytest.fixture(scope="module")
def runs(server: Server) -> Runs:
    return Runs(server)


def test_list_dashboard_bundle_and_result_of_a_comparison_say_the_same(
    server: Server, browser: Browser, runs: Runs
) -> None:
    script = runs.script()
    jobs = [
        TrainingJob(entry_point=script, cluster=Cluster.parse(cluster), max_steps=60)
        for cluster in ("one@here=local:1", "two@here=local:1")
    ]
    name = runs.compare(jobs, rounds=1)
    wait_until(lambda: runs.row(name)["state"] == "Completed", what="the comparison's end")
    kept = runs.bundle(name)[KEPT]
    comparison = Comparison.from_json(json.dumps(kept["comparison"]))
    launches = [cluster.runs[0] for cluster in comparison.clusters]
    wait_until(
        lambda: all(runs.row(launch)["step_time_s"] for launch in launches), what="its steps"
    )

    for launch in launches:  # by its own warm-up: a comparison's is one for all its launches
        measured = measured_launch(Run.open(launch, root=server.runs_root).records())
        assert measured is not None
        assert runs.row(launch)["step_time_s"] == measured.step_time_s.mean()
    assert kept["info"]["sentence"] == comparison.verdict
    with lab_page(server, browser) as page:
        show_runs(page)
        open_dashboard(page, name, "comparison")
        page.get_by_text(comparison.verdict).first.wait_for()
        shown = dict(page.evaluate(CELLS))
    for row in comparison_rows(comparison):
        assert shown[row.label] == ["\n".join(cell) for cell in row.cells]
