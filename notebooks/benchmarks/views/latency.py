"""From a step's end in the trainer to its point on the screen, with the local launcher."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smtc_lab.store.reader import read_run
from smtc_lab.store.run_folder import find_runs
from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

_SCRIPT = """import time
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range({steps}):
    time.sleep(1 / {steps_per_s})
    loss = model(torch.ones(4, 8)).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""

_WATCH = """() => {
  window.__drawn = [];
  const look = () => {
    const chart = document.querySelector('.smtc-run .smtc-chart');
    const rows = Number(chart?.dataset.rows ?? 0);
    const last = window.__drawn.at(-1)?.[0] ?? 0;
    if (rows > last) { window.__drawn.push([rows, Date.now() / 1000]); }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""

_LONGEST_MS = 120_000


def step_latencies_s(
    server: Server, browser: Browser, home: Path, *, steps: int = 200, steps_per_s: float = 20.0
) -> list[float]:
    """Return for each step the time from its end to the frame that shows it, in seconds.

    Both clocks are this machine's. A frame is counted when the chart has drawn the step; what
    the screen itself takes is not seen.

    Args:
        server: Where the notebook runs.
        browser: Where it is shown.
        home: ``SMTC_LAB_HOME`` of the server's kernels.
        steps: Steps of the run.
        steps_per_s: How quick they come.

    Raises:
        TimeoutError: The run did not come to its end.
    """
    script = server.root / "latency_script.py"
    script.write_text(_SCRIPT.format(steps=steps, steps_per_s=steps_per_s), encoding="utf-8")
    cell = (
        "import smtc_lab as lab\n"
        f"job = lab.TrainingJob(entry_point={str(script)!r}, "
        "cluster=lab.Cluster.parse('here@group=local:1'))\n"
        "monitor = lab.RunMonitor(lab.launch(job))\nmonitor"
    )
    notebook = server.write("latency.ipynb", [cell])
    with server.lab(browser, notebook) as page:
        page.evaluate(_WATCH)
        command(page, "notebook:run-all-cells")
        page.wait_for_function(
            f"() => (window.__drawn.at(-1)?.[0] ?? 0) >= {steps}", timeout=_LONGEST_MS
        )
        drawn: list[list[float]] = page.evaluate("() => window.__drawn")
    run = read_run(find_runs(home / "runs")[-1])
    (records,) = run.steps.values()
    latencies = []
    for number, record in enumerate(records, start=1):
        shown_s = next((at_s for rows, at_s in drawn if rows >= number), None)
        if shown_s is not None:
            latencies.append(shown_s - record.end_time_s)
    return latencies
