"""Brings what a training job logs and records to the run folder of this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import StoreError
from smtc_lab.metrics.records.lines import PREFIX, line_key, parse_record_line
from smtc_lab.store.line_sink import file_and_part, parsed_row
from smtc_lab.store.mirrored import MirroredRecords

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from smtc_lab.store.run_folder import RunFolder

_FILE = re.compile(r"(rank|data)[0-9]{1,6}|system|printed")
"""What the record files of an instance are called. Nothing else names a file here."""


class JobMirror:
    """The mirrored logs and records of one job.

    An instance has the name that it has in the plan, whatever the platform calls it.

    Args:
        folder: The run's folder.
        hosts: The planned instances.
    """

    def __init__(self, folder: RunFolder, hosts: Collection[str]) -> None:
        self._folder = folder
        self._planned = hosts
        self._key = line_key(folder.secret_file.read_bytes())
        self._records: dict[str, MirroredRecords] = {}
        self._logs: dict[str, _MirroredLog] = {}
        self._hosts: dict[str, str] = {}
        self._before: dict[str, list[str]] = {}
        self.platform_hosts: dict[str, str] = {}
        """The platform's name of each instance that has begun."""
        self.exits: dict[str, dict[str, Any]] = {}
        """What each instance said of its end, by host."""
        self.num_refused = 0
        """Lines that look like ours, and are not. They stay in the log, as what they are."""

    def take(self, stream: str, lines: Iterable[str]) -> None:
        """Take lines of a log stream, in order.

        Raises:
            StoreError: The run folder cannot be written.
        """
        said: list[str] = []
        for line in lines:
            content = parse_record_line(self._key, line)
            if content is None:
                self.num_refused += line.startswith(PREFIX)
                said.append(line)
            else:
                self.num_refused += not self._understand(stream, content)
        if stream in self._hosts:
            host = self._hosts[stream]
            self._log(host).add([*self._before.pop(stream, ()), *said])
        else:
            self._before.setdefault(stream, []).extend(said)

    def take_file(self, host: str, name: str, data: bytes) -> None:
        """Take a file of lines that an instance has left.

        Args:
            host: Its name in the plan.
            name: ``<its platform name>-<file>.<part>.lines``.
            data: Its content; a last line that is not whole is passed over.

        Raises:
            StoreError: The run folder cannot be written.
        """
        where = file_and_part(name)
        for first, line in enumerate(data.split(b"\n")[:-1]):
            table, values = parsed_row(line)
            content = {**where, "first": first, "table": table, "rows": [values]}
            self.num_refused += not self._add_rows(host, content)

    def is_missing_rows(self, host: str) -> bool:
        """Return whether an instance recorded more than came here, as far as it said."""
        if host not in self.exits:
            return True
        for name, count in self.exits[host]["rows"].items():
            where = file_and_part(name)
            if self._file(host, where["file"]).count(where["part"]) < count:
                return True
        return False

    def settle(self) -> int:
        """Close everything; return how many rows never came."""
        for stream, lines in self._before.items():  # containers that could not even begin
            host = _platform_host(stream)
            if host in self._planned:
                self._log(host).add(lines)
        lost = 0
        for records in self._records.values():
            lost += records.settle()
            records.close()
        return lost

    def _understand(self, stream: str, content: dict[str, Any]) -> bool:
        """Take what a sealed line says; return whether it makes sense.

        What an instance runs may be another version of this package, or hostile.
        """
        try:
            host, what = content["host"], content["is"]
            if host not in self._planned:
                return False
            if what == "rows":
                return self._add_rows(host, content)
            if what == "begin":
                self.platform_hosts[host] = str(content["platform_host"])
                self._hosts[stream] = host
                self.exits.pop(host, None)  # of a container before this one
            elif what == "exit":
                rows = content["rows"].items()
                self.exits[host] = {
                    **content,
                    "exit_code": int(content["exit_code"]),
                    "time_s": float(content["time_s"]),
                    "rows": {name: int(count) for name, count in rows if _is_file(name)},
                }
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        return True

    def _add_rows(self, host: str, content: dict[str, Any]) -> bool:
        records = self._file(host, content["file"])
        return records.add(
            str(content["part"]), int(content["first"]), content["table"], content["rows"]
        )

    def _file(self, host: str, file: str) -> MirroredRecords:
        if not _FILE.fullmatch(file):
            raise ValueError(f"{file[:80]!r} is no name of a record file. Drop it.")
        name = f"{host}-{file}"
        if name not in self._records:
            path = self._folder.records / f"{name}.sqlite"
            self._records[name] = MirroredRecords(path, host=host)
        return self._records[name]

    def _log(self, host: str) -> _MirroredLog:
        if host not in self._logs:
            self._logs[host] = _MirroredLog(self._folder.log_file(host))
        return self._logs[host]


class _MirroredLog:
    """The log of one instance. Read again from its begin, it does not repeat what is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = path.read_bytes().count(b"\n") if path.is_file() else 0

    def add(self, lines: list[str]) -> None:
        new = lines[self._known :]
        try:
            if new:
                with self._path.open("a", encoding="utf-8", errors="replace") as file:
                    file.write("".join(f"{line}\n" for line in new))
        except OSError as error:
            raise StoreError(
                f"The log {str(self._path)!r} cannot be written ({error}). Free space, and "
                "follow the run again."
            ) from error
        self._known = max(0, self._known - len(lines))


def _is_file(name: str) -> bool:
    return name.count(".") >= 2 and _FILE.fullmatch(file_and_part(name)["file"]) is not None


def _platform_host(stream: str) -> str:
    """Return the platform's name of the instance that a stream is of."""
    return stream.rpartition("/")[2].rpartition("-")[0]
