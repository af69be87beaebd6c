"""A run whose model is cut into stages: what its ranks did, in the panel and on a phone."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe

import smtc_lab as lab
from smtc_lab.launchers.run import Run
from smtc_lab.spec.distribution import Distribution
from smtc_lab.store.writer import RecordWriter
from tests.browser.lab_kit import Runs, lab_page, show_runs
from tests.kit.browser.jupyter import command
from tests.kit.pipelines import gpipe_records
from tests.kit.records import run_records
from tests.kit.run_folders import write_run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from tests.kit.browser.jupyter import Server

SCRIPT = """
import torch
from torch import nn
import smtc_lab

session = smtc_lab.Session()
torch.manual_seed(0)
layers = [each for _ in range(6) for each in (nn.Linear(256, 256), nn.Tanh())]
model = nn.Sequential(*layers)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
model, optimizer = session.prepare(model, optimizer)
data = torch.utils.data.TensorDataset(torch.randn(4096, 256), torch.randn(4096, 256))
loader = session.dataloader(data, batch_size=64, num_workers=0)
for inputs, targets in session.steps(loader):
    optimizer.zero_grad()
    session.step(inputs, targets, nn.functional.mse_loss)
    optimizer.step()
"""
VIEW = ".smtc-run .smtc-pipeline"
PHONE = 360


def serious(page: Page) -> list[str]:
    """Return the rules of axe that the view breaks badly."""
    found = Axe().run(page, context=VIEW).response["violations"]
    return [rule["id"] for rule in found if rule["impact"] in {"serious", "critical"}]


def fits(shown: Locator) -> bool:
    """Return whether nothing reaches over the right edge."""
    held: bool = shown.evaluate("el => el.scrollWidth <= el.clientWidth")
    return held


def test_a_pipeline_shows_what_its_ranks_did(server: Server, browser: Browser) -> None:
    (server.root / "staged.py").write_text(SCRIPT, encoding="utf-8")
    runs = Runs(server)
    name = runs.start(
        entry_point="staged.py",
        distribution=Distribution(pipeline=2, microbatches=4),
        max_steps=40,
    )

    with lab_page(server, browser) as page:
        show_runs(page)
        page.locator(".jp-Smtc-row", has_text=name).dblclick()
        shown = page.locator(VIEW)
        shown.locator(".smtc-span-backward").first.wait_for(timeout=120_000)
        assert shown.locator(".smtc-lane").count() == 2
        assert shown.locator(".smtc-stages tbody tr").count() == 2
        assert "bubble" in shown.inner_text()
        runs.await_end(name)
        assert runs.row(name)["state"] == "Completed"
        shown.get_by_text("The same step as a table").focus()
        page.keyboard.press("Enter")
        rows = shown.locator(".smtc-spans tbody tr")
        rows.filter(has_text="forward").first.wait_for()
        assert rows.filter(has_text="forward").count() == 2 * 4
        assert shown.get_by_role("columnheader", name="predicted begin").count() == 1
        assert shown.locator(".smtc-lane .smtc-foretold").count() == 2 * 2 * 4
        assert serious(page) == []
        command(page, "application:toggle-left-area")
        page.set_viewport_size({"width": PHONE + 80, "height": 800})  # the lab's own beside
        page.wait_for_function(f"() => document.querySelector('{VIEW}').clientWidth < 380")
        assert fits(shown)


@pytest.fixture
def shared(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Share a run of four stages, of which the third takes twice as long as the others."""
    run = run_records(cluster="here=local:1", num_ranks=4)
    values = {**dict(run.job), "distribution": Distribution(pipeline=4, microbatches=8)}
    run = replace(run, job=type(run.job)(**values))
    written = write_run_folder(tmp_path / "runs", run)
    records = gpipe_records(seconds=[0.1, 0.1, 0.2, 0.1], microbatches=8)
    for rank, stages in records.stages.items():
        with RecordWriter(written.records / f"{rank}.sqlite") as writer:
            for record in (*stages, *records.microbatches[rank]):
                writer.append(record)
    handle = {
        "launcher": "local",
        "job_name": written.job_name,
        "run_folder": str(written.path),
    }
    written.handle_file.write_text(json.dumps(handle), encoding="utf-8")
    with zipfile.ZipFile(wheel) as archive:
        monkeypatch.setattr(
            "smtc_lab.views.share.page.built_front_end",
            lambda name: archive.read(f"smtc_lab/views/static/{name}").decode(),
        )
        return lab.share(Run.open(str(written.path)), tmp_path / "run.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_shared_pipeline_can_be_read_on_a_phone(
    browser: Browser, shared: Path, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 800}, color_scheme=scheme)
    try:
        page.goto(shared.as_uri())
        shown = page.locator(VIEW)
        shown.get_by_text("Stage 2 takes").wait_for()
        assert shown.locator(".smtc-lane").count() == 4
        assert shown.locator(".smtc-span-wait").count() > 0
        assert shown.locator(".smtc-lane .smtc-foretold").count() == 2 * 4 * 8
        assert "predicted: the time that was computed" in shown.inner_text()
        shown.get_by_label("Drawn is").focus()
        page.keyboard.press("ArrowDown")
        shown.get_by_role("img", name="Step 2 of the pipeline").wait_for()
        box = shown.locator(".smtc-lane .smtc-span-backward").last
        assert "microbatch 7, backward" in str(box.get_attribute("title"))
        assert serious(page) == []
        assert fits(page.locator("body"))
    finally:
        page.close()
