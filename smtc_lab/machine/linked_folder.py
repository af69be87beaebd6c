"""A folder made anew elsewhere: its folders are new ones, its files are copies or links.

What is written to a new file or a copy stays there. What is opened for writing through a link
is the file that the link leads to.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from operator import itemgetter

from smtc_lab.machine.copied_files import CopiedFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    Found = list[os.DirEntry[str]]

MOST_LINKED = 10_000
"""Files and folders that are made anew, at most; as many again may lie beside and above."""

_MOST_SEEN = 10 * MOST_LINKED
_LEVELS_ABOVE = 2
_MOST_NAMED = 3
_LEFT_OUT = frozenset({"__pycache__"})
_LINKED_WHOLE = frozenset({".git", "node_modules"})
_MARKS = ({"pyvenv.cfg"}, {"conda-meta"}, {"job.json", "plan.json"})
"""What virtual environments and run folders hold: they are linked as a whole."""

_NOT_COMPARED = ".ipynb"
"""End of names of files that a person saves meanwhile: notebooks."""


def listed(names: Iterable[str]) -> str:
    """Return the first three of some names, and how many more there are."""
    names = sorted(names)
    many = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {many:,} more" if many > 0 else "")


class LinkedFolder:
    """A folder made anew with copies of its files, and links to those that do not fit.

    Args:
        source: The folder, an absolute path without links.
        top: Where it is made anew, below the names of all folders that it lies in. The two
            above it have links to all else that they hold, so ``..`` and ``../..`` lead to what
            they lead to there; but for the root of the file system, where processes are.
        left_out: Folders that are not there at all.
    """

    def __init__(self, source: Path, top: Path, *, left_out: Collection[Path] = ()) -> None:
        self.whole: list[str] = []
        """Folders that are linked as a whole, as there were too many files, by their names."""
        self.unlinked: str | None = None
        """The folder above that holds too much, so that nothing above finds what lies beside;
        None: there is none."""
        self._source, self._parents = str(source), [str(path) for path in source.parents]
        # nothing is ever made or removed through a link
        self._top = os.path.realpath(top)
        self._path = self._made_anew(self._source)
        self._skipped = {os.path.realpath(path) for path in left_out}
        self._links: dict[str, dict[str, str]] = {}
        self._copies = CopiedFiles()
        self._seen: dict[str, tuple[int, int]] = {}

    def make(self) -> bool:
        """Make it, or what of it is not there, and return True; False: it has too many files.

        Raises:
            OSError: It cannot be made.
        """
        found = self._entries("", MOST_LINKED)
        if found is None:
            return False
        for parent in [*reversed(self._parents), self._source]:
            if not self._make_folder(self._made_anew(parent)):
                raise NotADirectoryError(f"{self._made_anew(parent)!r} is no folder")
        room, level = MOST_LINKED - len(found), [("", found)]
        while level:
            room, level = self._make_level(level, room)
        self._link_parents()
        return True

    def changed(self) -> list[str]:
        """Return the names of linked files that are not as they were when they were linked."""
        return [name for name, was in self._seen.items() if self._look(name) != was]

    def remove_unchanged(self) -> None:
        """Take away links and unchanged copies, and the folders that are empty without them."""
        self._copies.remove_unchanged()
        for folder, links in reversed(self._links.items()):
            if os.path.realpath(folder) != folder:
                continue  # it was moved, and what stands there is not ours
            for name, text in links.items():
                path = os.path.join(folder, name)  # noqa: PTH118  ten thousand of them
                with suppress(OSError):
                    if os.readlink(path) == text:  # noqa: PTH115  as above
                        os.unlink(path)  # noqa: PTH108  as above
            with suppress(OSError):
                os.rmdir(folder)  # noqa: PTH106  as above

    def _made_anew(self, path: str) -> str:
        """Return where a folder is made anew that lies above, or is, the one that is linked."""
        return os.path.join(self._top, path[1:]) if path != "/" else self._top  # noqa: PTH118

    def _make_level(
        self, level: list[tuple[str, Found]], room: int
    ) -> tuple[int, list[tuple[str, Found]]]:
        """Fill folders; return the room that is left, and those in them that are made anew.

        The smallest are made anew first, so that one with many files takes no other's room.
        """
        looks, fitting = _MOST_SEEN, []
        for name in [inner for outer, found in level for inner in self._fill(outer, found)]:
            found = None if looks < room else self._entries(name, room)
            looks -= room if found is None else len(found)
            if found is None:
                self._link_whole(name)
            elif any(marks <= {entry.name for entry in found} for marks in _MARKS):
                self._link(name, self._of_source(name))
            else:
                fitting.append((len(found), name, found))
        below = []
        for count, name, found in sorted(fitting, key=itemgetter(0, 1)):
            if count > room:
                self._link_whole(name)
            elif self._make_folder(self._anew(name)):
                room -= count
                below.append((name, found))
        return room, below

    def _entries(self, name: str, most: int) -> Found | None:
        """Return what a folder holds; None: it cannot be read, or holds too much."""
        found = []
        try:
            with os.scandir(self._of_source(name)) as entries:
                for entry in entries:
                    found.append(entry)
                    if len(found) > most:
                        return None
        except OSError:
            return None
        return found

    def _fill(self, name: str, found: Iterable[os.DirEntry[str]]) -> list[str]:
        """Copy or link the files of a folder; return the folders in it to be made anew."""
        folders = []
        for entry in found:
            inner = os.path.join(name, entry.name)  # noqa: PTH118  as above
            if entry.name in _LEFT_OUT or entry.path in self._skipped:
                continue
            if entry.is_symlink():
                self._link(inner, self._leading_to(name, os.readlink(entry.path)))  # noqa: PTH115
            elif entry.is_dir() and entry.name not in _LINKED_WHOLE:
                folders.append(inner)
                continue
            elif self._copies.copy(entry.path, self._anew(inner)):
                continue
            else:
                self._link(inner, entry.path)
            seen = None if inner.endswith(_NOT_COMPARED) else self._look(inner)
            if seen is not None:
                self._seen[inner] = seen
        return folders

    def _leading_to(self, name: str, text: str) -> str:
        """Return a link of a folder as it leads to the same from the folder made anew."""
        inside = os.path.normpath(os.path.join(name, text))  # noqa: PTH118  as above
        if text.startswith("/") or not (inside == ".." or inside.startswith("../")):
            return text
        return os.path.join(self._of_source(name), text)  # noqa: PTH118  as above

    def _link_whole(self, name: str) -> None:
        self.whole.append(name)
        self._link(name, self._of_source(name))

    def _link(self, name: str, text: str) -> None:
        folder, last = os.path.split(self._anew(name))
        self._link_in(folder, last, text)

    def _link_in(self, folder: str, name: str, text: str) -> None:
        # an attempt before may have left it, or something else of that name
        with suppress(FileExistsError):
            os.symlink(text, os.path.join(folder, name))  # noqa: PTH118, PTH211  as above
        self._links[folder][name] = text

    def _make_folder(self, path: str) -> bool:
        """Make a folder, or find that it is there; return whether it is one, and no link."""
        with suppress(FileExistsError):
            os.mkdir(path, mode=0o700)  # noqa: PTH102  as above
        is_one = stat.S_ISDIR(os.lstat(path).st_mode)
        if is_one:
            self._links[path] = {}
        return is_one

    def _link_parents(self) -> None:
        """Link what lies beside the folder, and beside each one that it lies in."""
        room, child = MOST_LINKED, self._source
        for parent in self._parents[:_LEVELS_ABOVE]:
            if parent == "/":  # whoever follows links would walk through the whole machine
                return
            beside = []
            try:
                with os.scandir(parent) as entries:
                    for entry in entries:
                        if entry.path != child and entry.path not in self._skipped:
                            beside.append(entry)
                        if len(beside) > room:
                            self.unlinked = parent
                            return
            except OSError:  # it may be entered, and not be listed
                pass
            room, child = room - len(beside), parent
            for entry in beside:
                self._link_in(self._made_anew(parent), entry.name, entry.path)

    def _look(self, name: str) -> tuple[int, int] | None:
        """Return size and time of change of a file; None: there is none, or it is no file."""
        try:
            found = os.stat(self._of_source(name))  # noqa: PTH116  as above
        except OSError:
            return None
        return (found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None

    def _of_source(self, name: str) -> str:
        return os.path.join(self._source, name) if name else self._source  # noqa: PTH118

    def _anew(self, name: str) -> str:
        return os.path.join(self._path, name)  # noqa: PTH118  as above
