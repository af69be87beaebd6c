"""Compiled code of earlier runs, kept in a private folder of this user."""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import platform
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from smtc_lab.compiler.torch_names import optional
from smtc_lab.machine.home import HOME_VARIABLE
from smtc_lab.machine.torch_names import private_name

CACHE_VARIABLE = "TORCHINDUCTOR_CACHE_DIR"
"""Environment variable by which inductor knows its cache."""

MOST_BYTES = 4 * 2**30
"""Size of the cache above which files that were not used for long are removed."""

_IN_USE_S = 3600.0
"""Files that were used in the last hour stay: they may be another run's."""

_VECTORS = "torch._inductor.cpu_vec_isa:VecISA"
_note: str | None = None


def use_cache(*, enabled: bool) -> str | None:
    """Let inductor keep its code in this user's cache; return what is wrong with it, or None.

    The ranks and the runs of a user share it; inductor's own locks keep them apart. A cache
    that the environment names already is left as it is, but for a relative path, with which
    inductor fails.

    Args:
        enabled: Whether code is kept; False: in a folder of this process alone, until it ends.
    """
    global _note  # noqa: PLW0603  inductor has one cache folder in a process
    _note = None
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        os.environ[CACHE_VARIABLE] = os.path.abspath(chosen)  # noqa: PTH100  a link stays a link
        return None
    if not enabled:
        _use_passing_folder()
        return None
    folder = cache_root() / _kind_of_machine()
    try:
        _make_private(folder)
        _remove_old_files(cache_root())
    except OSError as error:
        _note = (
            f"The cache of compiled code in {str(folder)!r} cannot be used "
            f"({error.strerror or error}), so this run compiles anew. Make it a folder of "
            f"yours alone, or set {HOME_VARIABLE}."
        )
        _use_passing_folder()
    else:
        os.environ[CACHE_VARIABLE] = str(folder)
        _remember_what_loads()
    return _note


def cache_note() -> str | None:
    """Return what a reader must know about the cache of this process; None: nothing."""
    return _note


def leave_cache(error: BaseException) -> bool:
    """Go on without the cache after an error; False: there is none to leave.

    What cannot be read is removed, so that the next run finds an empty cache.
    """
    global _note  # noqa: PLW0603  as above
    folder = Path(os.environ.get(CACHE_VARIABLE, ""))
    clear_caches = optional("torch._inductor.utils:clear_caches")
    if not folder.is_relative_to(cache_root()) or clear_caches is None:
        return False
    reason = (str(error).strip().splitlines() or ["no reason given"])[0]
    _note = (
        f"The cache of compiled code in {str(folder)!r} failed ({reason[:200]}), so this run "
        "compiles without it. It was emptied; free space on its disk if that is full."
    )
    shutil.rmtree(folder, ignore_errors=True)
    clear_caches()
    _use_passing_folder()
    return True


def cache_root() -> Path:
    """Return the folder of all caches: ``$SMTC_LAB_HOME/inductor``, or the user's own."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home).expanduser().resolve() / "inductor"
    import platformdirs  # noqa: PLC0415  only the default needs it

    return Path(platformdirs.user_cache_dir("smtc_lab")).resolve() / "inductor"


def _kind_of_machine() -> str:
    """Return a name for machines and versions that can run each other's compiled code."""
    import torch  # noqa: PLC0415  the rest of this file does without

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        kind = [line for line in lines if line.startswith(("model name", "flags", "Features"))][
            :2
        ]
    except OSError:
        kind = [platform.processor()]
    if torch.cuda.is_available():
        kind.append(torch.cuda.get_device_name())
    digest = hashlib.sha256("\n".join(kind).encode()).hexdigest()[:12]
    return f"torch{torch.__version__}-python{platform.python_version()}-{digest}"


@cache
def _remember_what_loads() -> None:
    """Spare a run the processes in which inductor tries whether its vector code loads.

    Each of them imports torch, once for each instruction set, in every run.
    """
    try_it = optional(f"{_VECTORS}.check_build")
    if try_it is None or optional(f"{_VECTORS}.build_arch_flags") is None:
        return
    builder = Path(shutil.which(os.environ.get("CXX", "g++")) or "none")
    made = f"{builder}{builder.stat().st_mtime_ns if builder.exists() else 0}"

    def check_build(self: Any, code: str) -> bool:  # noqa: ANN401  torch's own, under a private name
        asked = f"{made}{self.build_arch_flags()}{code}"
        name = f"loads-{hashlib.sha256(asked.encode()).hexdigest()[:16]}"
        mark = Path(os.environ[CACHE_VARIABLE]) / name
        loads: bool = mark.exists() or try_it(self, code)
        if loads:
            with suppress(OSError):  # a full cache is told elsewhere
                mark.touch()
        return loads

    private_name(_VECTORS).check_build = check_build  # it has no setting for this


def _make_private(folder: Path) -> None:
    """Make a folder that nobody else can write to, or refuse: its code will be run."""
    if " " in str(folder):
        raise OSError("its path has a space, which torch does not quote for g++")
    for part in (folder.parent, folder):
        part.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = part.lstat()
        if not stat.S_ISDIR(facts.st_mode):
            raise OSError(f"{str(part)!r} is no folder")
        if facts.st_uid != os.geteuid():
            raise OSError(f"{str(part)!r} belongs to another user")
        if facts.st_mode & 0o077:
            part.chmod(0o700)


def _use_passing_folder() -> None:
    folder = tempfile.mkdtemp(prefix="smtc-lab-inductor-")
    os.environ[CACHE_VARIABLE] = folder
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def _remove_old_files(root: Path) -> None:
    """Remove what was not used for longest until the cache is well below its limit.

    Inductor compiles again what it does not find, so another run loses time at most.
    """
    with (root / "sweep.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another rank is at it
        files: list[tuple[float, int, str]] = []
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)  # noqa: PTH118  thousands of files
                try:
                    facts = os.lstat(path)
                except FileNotFoundError:
                    continue  # inductor renames its files into place
                files.append((max(facts.st_atime, facts.st_mtime), facts.st_size, path))
        excess = sum(size for _, size, _ in files) - MOST_BYTES
        if excess <= 0:
            return
        excess += MOST_BYTES // 4
        for used_at, size, path in sorted(files):
            if excess <= 0 or used_at > time.time() - _IN_USE_S:
                return
            Path(path).unlink(missing_ok=True)
            excess -= size
