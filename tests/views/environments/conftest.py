from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from smtc_lab.machine.environments.named import ENVIRONMENTS_VARIABLE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def environments_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of all environments, which has none."""
    folder = tmp_path / "environments"
    monkeypatch.setenv(ENVIRONMENTS_VARIABLE, str(folder))
    return folder
