"""A launch in a notebook: its cost is seen, accepted and confirmed, and its run watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

from tests.kit.browser.jupyter import command

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.kit.browser.jupyter import Server

VIEWS = """
import ipywidgets
from smtc_lab.examples import example
from smtc_lab.spec.cluster import Cluster
from smtc_lab.spec.job import TrainingJob
from smtc_lab.views.widgets.launch_view import LaunchView
def view(cluster, **options):
    epochs = {"epochs": 10_000}
    script = example("plain_loop")
    cluster = Cluster.parse(cluster)
    return LaunchView(
        TrainingJob(entry_point=script, cluster=cluster, hyperparameters=epochs), **options
    )
account = {
    "on": "sagemaker",
    "role_arn": "arn:aws:iam::123456789012:role/SageMakerRole",
    "image_uri": "123456789012.dkr.ecr.us-east-1.amazonaws.com/torch:2.9",
    "s3_uri": "s3://the-bucket/lab",
}
display(view("gpus=ml.p3.2xlarge:1", **account))
display(ipywidgets.VBox([view("new=ml.p9.48xlarge:1:train", **account)]))
view("here@group=local:1")
"""
PHONE = 360
DARK = """() => window.jupyterapp.commands.execute(
  'apputils:change-theme', { theme: 'JupyterLab Dark' })"""
CUT_OFF = """() => [...document.querySelectorAll('.jp-OutputArea-output *')]
  .filter(part => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1)
  .filter(part => !part.closest('.jp-OutputArea-output [tabindex]'))
  .map(part => part.outerHTML.slice(0, 120))"""


def test_the_cost_is_seen_on_a_phone_and_one_key_starts_the_run_that_is_watched(
    server: Server, browser: Browser
) -> None:
    notebook = server.write("launch.ipynb", [VIEWS])

    with server.lab(browser, notebook) as page:
        page.evaluate(DARK)
        command(page, "application:toggle-left-area")
        command(page, "notebook:run-all-cells")
        start = page.get_by_role("button", name="Start", exact=True)
        start.wait_for(timeout=60_000)
        page.get_by_role("button", name="Start: at most $91.80").wait_for()
        unknown = page.get_by_role("button", name="Start: price unknown")
        was_disabled = unknown.is_disabled()
        page.get_by_role("checkbox", name="I accept an unknown price").check()
        page.get_by_role("button", name="Start: price unknown", disabled=False).wait_for()
        found = Axe().run(page, context=".jp-OutputArea-child").response["violations"]
        page.set_viewport_size({"width": PHONE, "height": 740})
        page.wait_for_function(
            "() => document.querySelector('.jp-OutputArea-output').clientWidth < 360"
        )
        cut_off = page.evaluate(CUT_OFF)
        start.focus()
        page.keyboard.press("Enter")
        page.get_by_role("status").filter(has_text="on local.").wait_for()
        page.locator(".smtc-run").get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Stop it").click()
        page.locator(".jp-Notebook").get_by_text("Stopped").first.wait_for(timeout=60_000)

        assert start.count() == 0
    assert was_disabled
    assert cut_off == []
    serious = [rule for rule in found if rule["impact"] in {"serious", "critical"}]
    assert [(rule["id"], rule["nodes"][0]["html"][:120]) for rule in serious] == []
