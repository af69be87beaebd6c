"""The compiler's intermediate files, under names that tell what they are."""

from __future__ import annotations

import logging
import re
import shutil
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.torch_names import home_of, needed

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64 * 2**20
"""What the folder may hold after ``tidy``."""

_LOG_BYTES = 4 * 2**20
_LOGS = {
    "guards": "guards.txt",
    "recompiles": "recompilations.txt",
    "graph_breaks": "graph-breaks.txt",
}
"""Files by the name that torch gives to the kind of message."""

_NAMES = {
    "output_code.py": "generated-code.py",
    "fx_graph_readable.py": "graph.py",
    "fx_graph_transformed.py": "graph-optimized.py",
    "fx_graph_runnable.py": "graph-runnable.py",
    "ir_pre_fusion.txt": "loops-before-fusion.txt",
    "ir_post_fusion.txt": "loops-after-fusion.txt",
}
"""Our names by those of torch."""

_DISPOSABLE = ("loops-before-fusion.txt", "graph-runnable.py", "loops-after-fusion.txt")
"""What goes first when the folder is too large."""

_GRAPH = re.compile(r"model__(\d+)_(forward|backward|inference)_(\d+)\.(\d+)")
_README = """\
Intermediate files of the training compiler, rank by rank. Later files may come from
recompilations: their numbers go up in the order of compiling.

rank<r>/<number>-<forward, backward or inference>/
  graph.py                 the captured graph, as PyTorch operators
  graph-optimized.py       the same after Inductor's own rewrites
  graph-runnable.py        the captured graph as a program that can be run by itself
  loops-before-fusion.txt  its loops and library calls, before fusion
  loops-after-fusion.txt   the same after fusion
  generated-code.py        the program that runs in the end, C++ or Triton kernels included
rank<r>/guards.txt          what must hold for compiled code to be used again
rank<r>/recompilations.txt  which guard failed, and where
rank<r>/graph-breaks.txt    where a graph ended early, with the calls that led there
xla/                        the programs of XLA, where it was the backend

Of a large model only part is kept; not-kept.txt then says what was left out.
"""


class DebugFolder:
    """Has torch.compile write what it makes of a model, and sorts it afterwards."""

    def __init__(self, folder: Path, *, rank: int) -> None:
        """Prepare; nothing is written yet.

        Args:
            folder: Where the files go; ``rank<r>`` in it is ours.
            rank: Rank of this trainer.
        """
        self._folder = folder
        self._own = folder / f"rank{rank}"
        self._handlers: list[_ArtifactFile] = []

    def prepare(self) -> None:
        """Switch torch's own debugging on, before the first compilation.

        Compiled code is not taken out of caches from now on: what comes out of them has no
        intermediate files.

        Raises:
            CompilerError: This torch writes none.
        """
        inductor = home_of("torch._inductor.config:trace.enabled")
        needed("torch._inductor.config:force_disable_caches")
        dynamo = home_of("torch._dynamo.config:debug_dir_root")
        set_logs = needed("torch._logging._internal:set_logs")
        registry = needed("torch._logging._internal:log_registry")
        self._own.mkdir(parents=True, exist_ok=True)
        (self._folder / "README.txt").write_text(_README, encoding="utf-8")
        inductor.trace.enabled = True
        inductor.force_disable_caches = True
        dynamo.debug_dir_root = str(self._own)
        set_logs(guards=True, recompiles=True, graph_breaks=True)
        self._send_logs_to_files(registry)

    def tidy(self) -> None:
        """Give the files that are there readable names, and keep the folder within its bound.

        May be called again; what cannot be moved stays where it is.
        """
        numbers = [int(path.name.split("-")[0]) for path in self._own.glob("[0-9]*-*")]
        number = max(numbers, default=-1) + 1
        for path in sorted(self._own.glob("run_*/torchinductor/model__*"), key=_order):
            match = _GRAPH.fullmatch(path.name)
            if match is None:
                continue
            target = self._own / f"{number:03d}-{match[2]}"
            number += 1
            path.rename(target)
            for name, ours in _NAMES.items():
                if (target / name).exists():
                    (target / name).rename(target / ours)
        self._bound()

    def close(self) -> None:
        """Tidy up, and write no more messages."""
        for handler in self._handlers:
            handler.close()
        self.tidy()
        for path in self._own.glob("run_*"):
            shutil.rmtree(path, ignore_errors=True)  # emptied, but for torch's own log

    def _send_logs_to_files(self, registry: Any) -> None:  # noqa: ANN401  torch's own, under a private name
        """Keep these messages out of the run's log, where they would bury everything else."""
        for artifact, file in _LOGS.items():
            handler = _ArtifactFile(artifact, self._own / file)
            self._handlers.append(handler)
        for name in registry.get_log_qnames() | registry.get_artifact_log_qnames():
            logger = logging.getLogger(name)
            for torchs_own in logger.handlers:
                torchs_own.addFilter(_is_no_artifact)
            for handler in self._handlers if logger.handlers else ():
                logger.addHandler(handler)

    def _bound(self) -> None:
        """Remove the least telling files first, and of those the last ones."""
        files = sorted(path for path in self._own.rglob("*") if path.is_file())
        size = sum(path.stat().st_size for path in files)
        left_out: list[str] = []
        for names in ((name,) for name in _DISPOSABLE):
            size = _remove(files, names, size, left_out)
        size = _remove(files, tuple(_NAMES.values()), size, left_out)
        if left_out:
            with (self._own / "not-kept.txt").open("a", encoding="utf-8") as file:
                file.writelines(f"{path}\n" for path in left_out)


class _ArtifactFile(logging.FileHandler):
    """Writes one kind of torch's messages into a file, until it is full."""

    def __init__(self, artifact: str, path: Path) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self._artifact = artifact
        self._left = _LOG_BYTES
        self.setFormatter(logging.Formatter("%(message)s\n"))

    def filter(self, record: logging.LogRecord) -> bool:
        return _artifact(record) == self._artifact

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        self._left -= len(text)
        if self._left > 0:
            super().emit(record)


def _artifact(record: logging.LogRecord) -> str | None:
    """Return what kind of torch's messages a record is; None: an ordinary one."""
    return getattr(logging.getLogger(record.name), "artifact_name", None)


def _is_no_artifact(record: logging.LogRecord) -> bool:
    return _artifact(record) not in _LOGS


def _order(path: Path) -> int:
    match = _GRAPH.fullmatch(path.name)
    return int(match[4]) if match else 0


def _remove(files: list[Path], names: tuple[str, ...], size: int, left_out: list[str]) -> int:
    """Remove files of these names from the last one on, while there is too much."""
    for path in reversed(files):
        if size <= MOST_BYTES:
            break
        if path.name in names and path.exists():
            size -= path.stat().st_size
            path.unlink()
            left_out.append(f"{path.parent.name}/{path.name}")
    return size
