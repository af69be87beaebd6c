"""Makes the README's picture of JupyterLab: a real comparison of emulated clusters as it runs.

python -m tests.browser.lab_picture notebooks/results/demo/lab.png
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from smtc_lab.examples import example
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from tests.browser.lab_kit import Runs, lab_page, open_dashboard, show_runs
from tests.kit.browser.chromium import running_browser
from tests.kit.browser.jupyter import Window, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Page

CLUSTERS = (
    "homogeneous@dnn_group=ml.p3.2xlarge:1",
    "heterogeneous@dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9xlarge:1",
)
QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    }
}
WINDOW = Window(width=1440, height=960)
NUM_COLORS = 128
LONGEST_MS = 300_000
BESIDE = """name => {
  const { shell } = window.jupyterapp;
  const open = [...shell.widgets('main')];
  shell.add(open.find(one => one.id.includes(name)), 'main', { mode: 'split-right' });
  open.find(one => one.title.label === 'Launcher').close();
}"""
CHARTS_FIRST = """() => {
  document.querySelector('.jp-Smtc-main .smtc-run details').scrollIntoView();
}"""
HAS_STEPS = """() => Number(
  document.querySelector('.jp-Smtc-main .smtc-run .smtc-chart')?.dataset.rows ?? 0
) >= 20"""


def main(path: Path) -> None:
    """Launch a comparison, look at it in JupyterLab, and write what is seen."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "notebooks").mkdir()
        settings = home / "config" / "labconfig" / "default_setting_overrides.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(QUIET), encoding="utf-8")
        python = Path(sys.executable)
        with (
            running_server(python, home / "notebooks", home=home) as server,
            running_browser() as browser,
            lab_page(server, browser, window=WINDOW) as page,
        ):
            runs = Runs(server)
            name = runs.compare(jobs(), rounds=3)
            picture = seen(page, name)
            runs.stop_all()
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(NUM_COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


def jobs() -> list[TrainingJob]:
    """Return what is compared."""
    return [
        TrainingJob(
            entry_point=example("digits"),
            cluster=Cluster.parse(cluster),
            hyperparameters={"batch_size": 64, "work": 20},  # the demo's
            # half of two cores, so that the browser does not take what the instances ask for
            emulation=Emulation(time_dilation=45, device_step_time_s=0.005),
            max_steps=32,
        )
        for cluster in CLUSTERS
    ]


def seen(page: Page, name: str) -> bytes:
    """Return the picture of a comparison in its last round, beside the launch that runs."""
    show_runs(page)
    open_dashboard(page, name, "comparison")
    page.get_by_text("after 2 of 3 rounds").first.wait_for(timeout=LONGEST_MS)
    launches = page.locator(".jp-Smtc-row[data-state=live][data-key^='run/']")
    run = (launches.get_attribute("data-key", timeout=LONGEST_MS) or "").removeprefix("run/")
    open_dashboard(page, run)
    page.evaluate(BESIDE, run)
    page.wait_for_function(HAS_STEPS, timeout=LONGEST_MS)
    page.evaluate(CHARTS_FIRST)
    page.locator(".jp-Smtc-main .smtc-run canvas").nth(2).wait_for()
    page.wait_for_timeout(500)  # they are drawn when they are seen
    return page.screenshot()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
