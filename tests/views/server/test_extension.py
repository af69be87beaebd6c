"""How a Jupyter server finds the extension, and what it costs servers that nobody asks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import smtc_lab.views.server

CONFIG = Path(smtc_lab.views.server.__file__).with_name("smtc_lab.json")


def test_the_configuration_in_the_package_switches_the_extension_on() -> None:
    from jupyter_server.extension.manager import ExtensionPackage

    enabled = json.loads(CONFIG.read_text(encoding="utf-8"))["ServerApp"]["jpserver_extensions"]
    ((name, is_on),) = enabled.items()
    package = ExtensionPackage(name=name, enabled=is_on)

    assert package.enabled
    assert package.validate()
    assert list(package.extension_points) == ["smtc_lab.views.server"]


def test_a_server_that_nobody_asks_loads_nothing_heavy() -> None:
    program = "import sys, smtc_lab.views.server.routes; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    loaded = done.stdout.split()
    assert "smtc_lab.views.server.routes" in loaded
    heavy = {"numpy", "pydantic", "apsw", "scipy", "matplotlib", "anywidget", "torch"}
    assert heavy.isdisjoint(name.partition(".")[0] for name in loaded)
