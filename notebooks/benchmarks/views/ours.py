"""What only we promise: dashboards, floods of rows, long runs, the first look."""

from __future__ import annotations

HEAD = """
import asyncio, json, resource, time
import numpy as np
from smtc_lab.views.widgets.live_chart import LiveChart
"""
"""What each first cell begins with."""


def dashboard(num_charts: int, *, updates_per_s: float, seconds: float) -> list[str]:
    """Return cells with so many live charts side by side, each a widget of its own."""
    show = f"""
import ipywidgets
charts = [LiveChart(["one", "two"], title=f"chart {{i}}") for i in range({num_charts})]
ipywidgets.GridBox(charts, layout=ipywidgets.Layout(grid_template_columns="repeat(4, 25%)"))
"""
    loop = f"""
async def go():
    begin, sent, cpu = time.monotonic(), 0, time.process_time()
    while time.monotonic() - begin < {seconds}:
        for chart in charts:
            chart.push(sent, np.sin(sent / 20), np.cos(sent / 30))
        sent += 1
        await asyncio.sleep(max(0, sent / {updates_per_s} - (time.monotonic() - begin)))
    spent = time.monotonic() - begin
    print("RESULT", json.dumps({{"rows": sent * len(charts),
                               "cpu": (time.process_time() - cpu) / spent}}))
await go()
"""
    return [HEAD + show, loop]


def flood(*, rows_per_s: int, seconds: float, one_by_one: bool = False) -> list[str]:
    """Return cells that push so many rows a second into one chart."""
    push = (
        "for row in range(block): chart.push(done + row, 1.0, 2.0)"
        if one_by_one
        else "chart.extend(np.arange(done, done + block, dtype=float), noise, noise)"
    )
    loop = f"""
async def go():
    begin, done, cpu = time.monotonic(), 0, time.process_time()
    block = {rows_per_s} // 30
    noise = np.random.default_rng(0).random(block)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while time.monotonic() - begin < {seconds}:
        {push}
        done += block
        await asyncio.sleep(max(0, done / {rows_per_s} - (time.monotonic() - begin)))
    spent = time.monotonic() - begin
    cpu = (time.process_time() - cpu) / spent
    await asyncio.sleep(1)  # the last frames
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    print("RESULT", json.dumps({{"rows": done, "rows_per_s": done / spent, "cpu": cpu,
                               "grown_kib": grown}}))
await go()
"""
    return [f'{HEAD}chart = LiveChart(["one", "two"])\nchart', loop]
