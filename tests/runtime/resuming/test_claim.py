"""A folder of checkpoints belongs to one training at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from smtc_lab.errors import EntryPointError
from smtc_lab.runtime.resuming.claim import claim_folder

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """
import os, sys
from pathlib import Path
from smtc_lab.runtime.resuming.claim import claim_folder
claim_folder(Path(sys.argv[1]), print)
child = os.fork()
if child == 0:
    os.read(0, 1)  # outlives its parent, as a data worker may
    os._exit(0)
print(child, flush=True)
os.read(0, 1)
"""


def test_who_is_second_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        child = int(first.stdout.readline())
        with pytest.raises(EntryPointError, match="Another training keeps its checkpoints in"):
            claim_folder(tmp_path, print)
        first.kill()
        first.wait()
        os.kill(child, 0)  # it lives
        claim_folder(tmp_path, print)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, str]] = []
    (tmp_path / "file").write_text("")

    claim_folder(tmp_path / "file" / "rank0", lambda *said: told.append(said))

    ((kind, sentence),) = told
    assert kind == "warning"
    assert "Not a directory" in sentence
