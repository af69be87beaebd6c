"""What a page went through while something was drawn on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

_BEGIN = """() => {
  const seen = { frames: [], tasks: [], begin: performance.now() };
  window.__seen = seen;
  seen.observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) { seen.tasks.push(entry.duration); }
  });
  seen.observer.observe({ entryTypes: ['longtask'] });
  const frame = time => {
    seen.frames.push(time);
    seen.handle = requestAnimationFrame(frame);
  };
  seen.handle = requestAnimationFrame(frame);
}"""

_END = """() => {
  const seen = window.__seen;
  cancelAnimationFrame(seen.handle);
  seen.observer.disconnect();
  return { frames: seen.frames, tasks: seen.tasks,
           seconds: (performance.now() - seen.begin) / 1000,
           latencies: window.__latencies ?? [] };
}"""


@dataclass(frozen=True, kw_only=True)
class Smoothness:
    """How smoothly a page ran."""

    frames_per_s: float
    """Animation frames in a second; 60 is what the browser makes at most."""

    longest_frame_s: float
    """Longest time between two frames, in seconds."""

    long_tasks: int
    """Tasks of more than 50 ms that held the page up."""

    latency_s: list[float]
    """From a message's leaving the kernel to its arrival in the page, in seconds."""


def begin(page: Page) -> None:
    """Begin to watch the page."""
    page.evaluate(_BEGIN)


def end(page: Page) -> Smoothness:
    """Return what was seen of the page since ``begin``."""
    seen: dict[str, Any] = page.evaluate(_END)
    frames = seen["frames"]
    gaps = [after - before for before, after in pairwise(frames)]
    return Smoothness(
        frames_per_s=len(frames) / seen["seconds"],
        longest_frame_s=max(gaps, default=0.0) / 1000,
        long_tasks=len(seen["tasks"]),
        latency_s=[value / 1000 for value in seen["latencies"]],
    )
