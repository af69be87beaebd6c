from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.test_workbench import WORKBENCH

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from tests.kit.browser.jupyter import Server

KERNEL_IS_IDLE = """() => {
  const { sessionContext } = window.jupyterapp?.shell.currentWidget ?? {};
  return sessionContext?.isReady && sessionContext.session?.kernel?.status === 'idle';
}"""
import time

def test_x(server: Server, browser: Browser) -> None:
    notebook = server.write("classic.ipynb", [WORKBENCH])
    said=[]
    with server.page(browser, f"notebooks/{notebook.name}") as page:
        page.on("console", lambda m: said.append((m.type, m.text[:300], m.location.get('url'))))
        page.on("pageerror", lambda m: said.append(("pageerror", str(m))))
        page.on("response", lambda r: r.status>=400 and said.append((r.status, r.url)))
        page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)
        page.locator(".jp-Cell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".smtc-workbench", timeout=60_000)
        page.screenshot(path="/tmp/nb7/form.png")
        print(page.evaluate("()=>[...document.querySelectorAll('.jp-Toolbar [data-jp-item-name]')].map(e=>e.dataset.jpItemName)"))
        print(page.evaluate("()=>window.jupyterapp.commands.listCommands().filter(n=>n.startsWith('smtc'))"))
        print(page.evaluate("()=>['left','right','main','menu','top','down'].map(a=>[a,[...window.jupyterapp.shell.widgets(a)].map(w=>w.id)])"))
        page.get_by_role("button", name="Choose …").click()
        page.locator(".smtc-scripts").get_by_role("button").first.wait_for()
        page.screenshot(path="/tmp/nb7/choose.png")
        print(page.locator(".smtc-scripts").inner_text())
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Run", exact=True).click()
        page.wait_for_selector(".smtc-comparison", timeout=30_000)
        print(page.locator(".smtc-comparison .smtc-badge").first.text_content())
        page.wait_for_function("() => /faster|slower|difference/.test(document.querySelector('.smtc-comparison').textContent)", timeout=120_000)
        page.screenshot(path="/tmp/nb7/done.png", full_page=True)
        print(page.locator(".smtc-comparison .smtc-badge").first.text_content())
        for c in ["smtc-lab:show-runs","smtc-lab:open-designer","smtc-lab:insert-workbench"]:
            print(c, page.evaluate("async c => { try { const r = await Promise.race([window.jupyterapp.commands.execute(c), new Promise(r=>setTimeout(()=>r('timeout'),4000))]); return String(r) } catch(e) { return 'ERR '+e }}", c))
            time.sleep(2)
            page.screenshot(path=f"/tmp/nb7/{c.split(':')[1]}.png")
            print(page.evaluate("()=>['left','right','main','menu','top','down'].map(a=>[a,[...window.jupyterapp.shell.widgets(a)].map(w=>w.id)])"))
            print([ (s, page.locator(s).count(), page.locator(s).first.is_visible() if page.locator(s).count() else None) for s in (".jp-Smtc-runs",".jp-SmtcDesigner",".smtc-workbench")])
        print(len(page.context.pages), page.url)
        for s in said: print(s)
    assert 0
