"""What a screen reader hears of a run, in a browser: what stands on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.lab_kit import CHART, Runs, lab_page, open_dashboard

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.kit.browser.jupyter import Server

_SAYS = """([name, word]) => {
  const header = document.querySelector('.jp-Smtc-main .smtc-run header');
  const shown = header.querySelector('.smtc-badge').textContent;
  const spoken = header.querySelector('.smtc-sr[role=status]').textContent;
  return shown === word && spoken.startsWith(`Run ${name}: ${word}.`);
}"""

_SEEN = """() => {
  const header = document.querySelector('.jp-Smtc-main .smtc-run header').cloneNode(true);
  header.querySelectorAll('.smtc-sr').forEach(unseen => unseen.remove());
  return header.textContent;
}"""


def test_the_live_region_says_what_the_screen_says_from_begin_to_end(
    server: Server, browser: Browser
) -> None:
    runs = Runs(server)
    name = runs.start()
    with lab_page(server, browser) as page:
        open_dashboard(page, name)
        page.wait_for_selector(CHART)
        page.wait_for_function(_SAYS, arg=[name, "Running"], timeout=30_000)
        assert heard(page).count(f"Run {name}: Running.") == 1

        page.get_by_role("button", name="Stop", exact=True).click()
        page.get_by_role("button", name="Stop it").click()

        page.wait_for_function(_SAYS, arg=[name, "Stopped"], timeout=60_000)
        why = heard(page).partition("Stopped.")[2].strip()
        assert why != ""
        assert why in page.evaluate(_SEEN)
        assert "Running" not in heard(page)


def heard(page: Page) -> str:
    """Return what stands in the live regions of a run's header that a reader can reach."""
    regions = page.locator(".jp-Smtc-main .smtc-run header").get_by_role("status")
    return " ".join(regions.all_text_contents())
