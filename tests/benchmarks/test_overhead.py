"""What the benchmarks of overhead and of views run still runs: nothing else imports it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from notebooks.benchmarks.overhead import start_and_end_s
from notebooks.benchmarks.views.pictured import live_picture

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kit.browser.jupyter import Server


def test_three_instances_start_and_end(tmp_path: Path) -> None:
    started_s, ended_s = start_and_end_s(tmp_path)

    assert started_s > 0
    assert ended_s > 0


def test_live_pictures_show_both_clusters(tmp_path: Path) -> None:
    server = cast("Server", SimpleNamespace(root=tmp_path))
    head, _ = live_picture(server, 2, instances=3, updates_per_s=30, seconds=1)
    look = "print(*[len(each['groups']) for each in told(1)['set_ups']])"

    done = subprocess.run(
        [sys.executable, "-c", f"{head}\n{look}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == ["1", "2"]
