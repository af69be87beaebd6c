"""The picture of a cluster: how quick its answer is, and what a live one costs the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from notebooks.benchmarks.views.ours import HEAD
from smtc_lab.views.code.set_ups import first_jobs
from tests.kit.browser.jupyter import command
from tests.kit.calibrations import keep_calibration

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

CHANGES = 40
"""Changes of a count in a round."""

_GROUPS = ",".join(["train=ml.p3.2xlarge:1", *(f"d{n}=ml.c5.4xlarge:1" for n in range(1, 4))])
_SET_UPS = [f"{name}@{_GROUPS},d4=ml.c5.4xlarge:{1 + at}" for at, name in enumerate("abc")]
_LONGEST_MS = 60_000
_CHANGE = """async changes => {
  const card = document.querySelectorAll('.smtc-set-up')[1];
  const handle = card.querySelectorAll('.smtc-handle')[1];
  const told = () => card.querySelector('.smtc-foreseen').textContent;
  const found = [];
  for (let number = 0; number < changes; number += 1) {
    const before = told();
    const begin = performance.now();
    const key = number % 2 === 0 ? 'ArrowUp' : 'ArrowDown';
    handle.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    while (told() === before) {
      if (performance.now() > begin + 10000) { throw new Error('no other prediction came'); }
      await new Promise(requestAnimationFrame);
    }
    found.push((performance.now() - begin) / 1000);
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  return found;
}"""
_LIVE = """
import numpy as np
import traitlets
from smtc_lab.catalog.catalog import Catalog
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.live.part_use import PartUse
from smtc_lab.views.study.info import ComparisonInfo, SetUpInfo
from smtc_lab.views.study.pictured import pictured_groups
from smtc_lab.views.widgets.watching import WatchingView

class Pictured(WatchingView):
    view, watched = "comparison-monitor", "comparison"
    result = traitlets.Unicode(read_only=True).tag(sync=True)

jobs = [TrainingJob(entry_point="train.py", cluster=Cluster.parse(text)) for text in (
    "alone@train=ml.p4d.24xlarge:INSTANCES",
    "fed@train=ml.p4d.24xlarge:INSTANCES,data=ml.c5.9xlarge:8")]

def told(number):
    busy = 0.5 + 0.4 * np.sin(number)
    return ComparisonInfo(
        name="live", entry_point="train.py", state="InProgress", ended=False, reason="",
        elapsed_s=number / 2, launches=2, rounds=1, evidence="measured", scale="",
        sentence=f"So far, {number}.", is_verdict=False, launched=(), rows=(), notes=(),
        code="", set_ups=tuple(
            SetUpInfo(label=job.cluster.name, hosts=(), usd_per_hour=None, evidence="measured",
                      groups=pictured_groups(job, Catalog.load()),
                      use=PartUse(trainer_cpu=busy, data_cpu=busy, device=1 - busy),
                      step_time_s=0.1 + busy / 10)
            for job in jobs)).to_json()

pictured = Pictured()
pictured.set_trait("info", told(0))
pictured.set_trait("beat", {"number": 0, "elapsed_s": 0})
"""


def change_latencies_s(server: Server, browser: Browser) -> list[float]:
    """Return for each change of a count the time until another prediction is shown, in seconds.

    Three set-ups of five instance groups each, of which four prepare data and have one type, as
    the model asks for; all types of the catalog are offered. A frame
    is counted that has the new numbers; what the screen itself takes is not seen.

    Raises:
        TimeoutError: Nothing was predicted.
    """
    keep_calibration(first_jobs()[0], server.runs_root)
    cell = (
        "import smtc_lab as lab\n"
        "from smtc_lab.spec.cluster import Cluster\n"
        "from smtc_lab.views.code.set_ups import first_jobs\n"
        "job = first_jobs()[0]\n"
        f"clusters = [Cluster.parse(text) for text in {_SET_UPS!r}]\n"
        "lab.Workbench([job.model_copy(update={'cluster': each}) for each in clusters])"
    )
    notebook = server.write("change.ipynb", [cell])
    with server.lab(browser, notebook) as page:
        command(page, "notebook:run-all-cells")
        page.wait_for_selector(".smtc-foreseen .smtc-figure", timeout=_LONGEST_MS)
        found: list[float] = page.evaluate(_CHANGE, CHANGES)
    return found


def live_picture(
    server: Server, num_charts: int, *, instances: int, updates_per_s: float, seconds: float
) -> list[str]:
    """Return cells with live pictures of clusters of eight devices an instance, below charts.

    The pictures change twice a second, as those of a comparison that runs. What they show lies
    in a file beside the notebook, so that no long cell pushes them out of the window.
    """
    told = _LIVE.replace("INSTANCES", str(instances))
    (server.root / "live_pictures.py").write_text(told, encoding="utf-8")
    show = f"""
import ipywidgets
from live_pictures import pictured, told
charts = [LiveChart(["one", "two"], title=f"chart {{i}}") for i in range({num_charts})]
grid = ipywidgets.Layout(grid_template_columns="repeat(4, 25%)")
ipywidgets.VBox([ipywidgets.GridBox(charts, layout=grid), pictured])
"""
    loop = f"""
async def go():
    begin, sent, cpu, shown = time.monotonic(), 0, time.process_time(), 0
    while (lasted := time.monotonic() - begin) < {seconds}:
        for chart in charts:
            chart.push(sent, np.sin(sent / 20), np.cos(sent / 30))
        if lasted * 2 > shown:
            shown += 1
            pictured.set_trait("info", told(shown))
            pictured.set_trait("beat", {{"number": shown, "elapsed_s": lasted}})
        sent += 1
        await asyncio.sleep(max(0, sent / {updates_per_s} - (time.monotonic() - begin)))
    print("RESULT", json.dumps({{"rows": sent * len(charts), "pictures": shown}}))
await go()
"""
    return [HEAD + show, loop]
