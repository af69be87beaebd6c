from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from tests.kit.browser.jupyter import Server

KERNEL_IS_IDLE = """() => {
  const { sessionContext } = window.jupyterapp?.shell.currentWidget ?? {};
  return sessionContext?.isReady && sessionContext.session?.kernel?.status === 'idle';
}"""

def test_x(server: Server, browser: Browser) -> None:
    notebook = server.write("classic.ipynb", ["1"])
    for where in (f"notebooks/{notebook.name}", "tree", f"lab/tree/{notebook.name}"):
      for off in (True, False):
        for i in range(3):
            said=[]
            with server.page(browser, "api") as page:
                page.on("pageerror", lambda m: said.append(("pageerror", str(m), )))
                if off: page.route("**/extensions/@smtc-lab/**", lambda r: r.abort())
                page.goto(f"{server.url}{where}?token={server.token}")
                page.wait_for_function(KERNEL_IS_IDLE if where!="tree" else "()=>document.querySelector('.jp-DirListing-item')", timeout=60_000)
                page.wait_for_timeout(1500)
                print(where, "without ours" if off else "with ours", page.evaluate("()=>window.jupyterapp.listPlugins().filter(n=>n.includes('smtc')).length"), said)
    assert 0
