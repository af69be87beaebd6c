"""A scaling study, as JupyterLab shows it: live, at its end, on a small page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe

from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.emulation import Emulation
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.scaling.scale import launch_scaling
from tests.browser.lab_kit import lab_page, show_runs
from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from smtc_lab.study.scaling.scale import ScalingRun
    from tests.kit.browser.jupyter import Server

SCRIPT = """
import os
import time
import torch.distributed as dist
from smtc_lab.runtime.instance_runtime import instance_runtime

dist.init_process_group("gloo")
timer = instance_runtime().timer
while not timer.is_done:
    timer.ask()
    time.sleep(0.004 + 0.002 * int(os.environ["WORLD_SIZE"]))
    timer.got(8)
    timer.end()
"""


@pytest.fixture
def study(server: Server, monkeypatch: pytest.MonkeyPatch) -> ScalingRun:
    """Start the launches of 1 and 2 emulated devices."""
    monkeypatch.setenv(HOME_VARIABLE, str(server.runs_root.parent))
    script = server.root / "scaled.py"
    script.write_text(SCRIPT, encoding="utf-8")
    job = TrainingJob(
        entry_point=str(script),
        cluster=Cluster.parse("dnn_group=ml.p3.2xlarge:1"),
        emulation=Emulation(cores_per_vcpu=0.005),
        max_steps=60,
    )
    return launch_scaling(job, devices=(1, 2), rounds=2, samples_per_epoch=10_000, detach=False)


def test_a_scaling_study_tells_live_and_at_its_end_how_the_job_grows(
    server: Server, browser: Browser, study: ScalingRun
) -> None:
    with lab_page(server, browser) as page:
        show_runs(page)
        row = page.locator(".jp-Smtc-row", has_text=study.name)
        row.wait_for()
        assert "Scaling" in row.inner_text()
        row.dblclick()
        shown = page.locator(".jp-Smtc-main .smtc-scaling")
        shown.locator(".smtc-verdict-final", has_text="2 devices train").wait_for(
            timeout=120_000
        )
        plot = shown.locator(".smtc-scaling-plot")
        assert (plot.get_attribute("aria-label") or "").startswith("homogeneous, 1: ideal")
        assert plot.locator(".smtc-scaling-interval").count() == 1
        assert shown.locator(".smtc-scaling-bars .smtc-money-bar").count() == 2
        told = shown.inner_text()
        assert "an epoch: " in told
        assert "weak efficiency" in told
        assert serious(page) == []
        command(page, "application:toggle-left-area")
        page.set_viewport_size({"width": 440, "height": 800})  # 360 without the lab's own
        page.wait_for_function(
            "() => document.querySelector('.jp-Smtc-main .smtc-scaling').clientWidth < 380"
        )
        assert shown.evaluate("el => el.scrollWidth <= el.clientWidth")
    scaling = study.scaling
    assert scaling is not None
    assert scaling.verdict in told, "one number has one answer"


def serious(page: Page) -> list[str]:
    """Return the rules of axe that the view breaks badly."""
    found = Axe().run(page, context=".smtc-scaling").response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]
