"""Live charts of other libraries, and ours, as cells that a notebook runs.

Each update replaces a window of 1,000 points of two lines, which is how bqplot, plotly and
ipympl show live data; ours gets the same 2,000 numbers as new rows.
"""

from __future__ import annotations

from importlib.util import find_spec

_PROBE = '''
import anywidget, asyncio, json, time
import numpy as np

class Probe(anywidget.AnyWidget):
    _esm = """
    export default { render({ model, el }) {
      window.__latencies = [];
      model.on("msg:custom", m => window.__latencies.push(Date.now() - m.sent_ms));
    } }
    """

probe = Probe()
'''

_OURS = """
from smtc_lab.views.widgets.live_chart import LiveChart
chart = LiveChart(["one", "two"], capacity=1000)
def update(x, one, two):
    chart.extend(x, one, two)
"""

_BQPLOT = """
import bqplot
scales = {"x": bqplot.LinearScale(), "y": bqplot.LinearScale()}
line = bqplot.Lines(x=[], y=[[], []], scales=scales)
chart = bqplot.Figure(marks=[line], animation_duration=0)
def update(x, one, two):
    with line.hold_sync():
        line.x, line.y = x, np.stack([one, two])
"""

_PLOTLY = """
import plotly.graph_objects as go
chart = go.FigureWidget(data=[go.Scatter(x=[], y=[]), go.Scatter(x=[], y=[])])
def update(x, one, two):
    with chart.batch_update():
        for trace, y in zip(chart.data, (one, two)):
            trace.x, trace.y = x, y
"""

_IPYMPL = """
%matplotlib widget
import matplotlib.pyplot as plt
with plt.ioff():
    figure, axes = plt.subplots()
lines = [axes.plot([], [])[0] for _ in range(2)]
chart = figure.canvas
def update(x, one, two):
    for line, y in zip(lines, (one, two)):
        line.set_data(x, y)
    axes.set(xlim=(x[0], x[-1]), ylim=(-2, 2))
    figure.canvas.draw()
    figure.canvas.flush_events()
"""

CHARTS = {"smtc_lab": _OURS, "bqplot": _BQPLOT, "plotly": _PLOTLY, "ipympl": _IPYMPL}
"""Code that makes ``chart`` and ``update(x, one, two)``, by library."""

SHOWN = {
    "smtc_lab": ".smtc-chart",
    "bqplot": ".bqplot",
    "plotly": ".js-plotly-plot",
    "ipympl": ".jupyter-matplotlib canvas",
}
"""What is on the page once the chart is, by library."""

SHOW = """
from IPython.display import display
display(probe, chart)
"""


def installed() -> list[str]:
    """Return the libraries that are here, ours first."""
    return [name for name in CHARTS if find_spec(name) is not None]


def cells(library: str, *, updates_per_s: float, seconds: float) -> list[str]:
    """Return the cells of a notebook that shows a live chart and updates it.

    The last one prints what the kernel came to do in the time, as JSON behind ``RESULT``.
    """
    return [_PROBE + CHARTS[library] + SHOW, _loop(updates_per_s, seconds)]


def _loop(updates_per_s: float, seconds: float) -> str:
    return f"""
async def go():
    begin, sent = time.monotonic(), 0
    cpu = time.process_time()
    while time.monotonic() - begin < {seconds}:
        x = np.arange(1000.0) + 1000 * sent
        update(x, np.sin(x / 50 + sent), np.cos(x / 70 - sent))
        if sent % 5 == 0:
            probe.send({{"sent_ms": time.time() * 1000}})
        sent += 1
        await asyncio.sleep(max(0, sent / {updates_per_s} - (time.monotonic() - begin)))
    spent = time.monotonic() - begin
    print("RESULT", json.dumps({{"updates_per_s": sent / spent,
                               "cpu": (time.process_time() - cpu) / spent}}))
await go()
"""
