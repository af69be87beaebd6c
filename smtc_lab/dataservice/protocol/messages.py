"""What the messages of the data service say, and the checks on what came."""

from __future__ import annotations

import reprlib
import traceback
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from smtc_lab.dataservice.batch_types.known import known_class
from smtc_lab.dataservice.protocol.ended import EndedWorker
from smtc_lab.dataservice.protocol.remedies import SAME_VERSION
from smtc_lab.dataservice.protocol.wire import Kind, Message, pack
from smtc_lab.dataservice.sample_errors import sample_error
from smtc_lab.dataservice.source import BatchFailure, BatchPlace, StreamPlace
from smtc_lab.errors import DataServiceError, DatasetChangedError, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_TRACEBACK_CHARACTERS = 20_000
_OF_NO_SAMPLE: dict[str, object] = {"is_sample": False}
_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hello:
    """The first message of a data worker on every connection."""

    host: str
    """Name of its instance."""

    data_worker: int
    """Its number on the instance, from 0."""

    num_data_workers: int
    """Data workers of its server; a client opens a connection to each."""

    pid: int
    """Its process id there."""

    before: EndedWorker | None = None
    """Who had its number before, and has ended; None: nobody."""

    def pack(self) -> list[memoryview]:
        """Return the message."""
        return pack(Kind.HELLO, 0, asdict(self))

    @classmethod
    def read(cls, frame: Message | None) -> Hello:
        """Return the checked content of a first message.

        Raises:
            ProtocolError: It is not a hello.
        """
        said = _content(frame, Kind.HELLO)
        return cls(
            host=_field(said, "host", str)[:255],
            data_worker=_field(said, "data_worker", int),
            num_data_workers=_field(said, "num_data_workers", int),
            pid=_field(said, "pid", int),
            before=_ended(said.get("before")),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRequest:
    """What a client asks a data worker for."""

    place: BatchPlace | StreamPlace
    """Where the batch's first sample stands, or which batch of a stream it is."""

    indices: object = None
    """The batch's sample indices; a single index without auto collation; None in a stream."""

    takes_pickle: bool = False
    """Whether objects of unknown types may come pickled."""

    def pack(self, number: int) -> list[memoryview]:
        """Return the message of the request with this number."""
        place = self.place
        said: list[object] = [place.seed, place.epoch, place.position]
        if isinstance(place, StreamPlace):
            said += [place.stream, place.num_streams]
        else:
            said.append(self.indices)
        kind = Kind.REQUEST_ANY if self.takes_pickle else Kind.REQUEST
        return pack(kind, number, said)

    @classmethod
    def read(cls, frame: Message) -> BatchRequest:
        """Return the checked content of a request.

        Raises:
            ProtocolError: It is not a request.
        """
        is_any = frame.kind is Kind.REQUEST_ANY
        match frame.value if is_any or frame.kind is Kind.REQUEST else None:
            case [int(seed), int(epoch), int(position), indices]:
                place = BatchPlace(seed, epoch, position)
                return cls(place=place, indices=indices, takes_pickle=is_any)
            case [int(seed), int(epoch), int(position), int(stream), int(count)]:
                at = StreamPlace(seed, epoch, stream, count, position)
                return cls(place=at, takes_pickle=is_any)
        raise ProtocolError(
            f"A REQUEST was expected, but {frame.kind.name} {reprlib.repr(frame.value)} came. "
            f"{SAME_VERSION}"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """The first message of a client on every connection: who asks."""

    rank: int
    """Rank of the trainer."""

    world_size: int
    """Trainers of the job."""

    local_rank: int
    """Its rank on its instance."""

    local_world_size: int
    """Trainers of its instance."""

    has_group: bool
    """Whether it has made a process group."""

    knows_ranks: bool
    """Whether its environment tells of ranks."""

    last_pid: int
    """The data worker of this number that it spoke to last; 0: none."""

    def pack(self) -> list[memoryview]:
        """Return the message."""
        return pack(Kind.ASKER, 0, asdict(self))

    @classmethod
    def read(cls, frame: Message | None) -> Asker:
        """Return the checked content of the message.

        Raises:
            ProtocolError: It is not such a message.
        """
        said = _content(frame, Kind.ASKER)
        numbers = ("rank", "world_size", "local_rank", "local_world_size", "last_pid")
        flags = ("has_group", "knows_ranks")
        values: dict[str, Any] = {name: _field(said, name, int) for name in numbers}
        return cls(**values, **{name: _field(said, name, bool) for name in flags})


@dataclass(slots=True)  # not frozen: that costs as much as all the rest of it
class Answer:
    """The end of one request: a batch, or why there is none."""

    value: object
    """The batch; None with an error."""

    error: DataServiceError | None
    """What to raise where the batch would have been delivered."""

    server: str
    """Host of the data server, or ``local``."""

    received_bytes: int
    """Payload bytes of the batch."""

    busy_s: float
    """Time that the data worker spent on it, in seconds."""

    put_wait_s: float = 0.0
    """Time that its batch before this one waited to be taken by this client, in seconds."""

    is_end: bool = False
    """Whether the stream has ended before this batch."""


def read_release(frame: Message) -> list[int]:
    """Return the checked content of a message that gives shared memory back.

    Raises:
        ProtocolError: It is not such a message.
    """
    said = frame.value
    if not isinstance(said, list) or not all(type(offset) is int for offset in said):
        raise ProtocolError(
            f"A RELEASE names no places, but {reprlib.repr(said)}. {SAME_VERSION}"
        )
    return said


def failure_text(error: BaseException, who: str) -> dict[str, object]:
    """Return what an error message says: whose fault it is, and the text for people."""
    if isinstance(error, BatchFailure) and error.__cause__ is not None:
        cause = error.__cause__
        lines = _traceback_lines(cause)
        # format_exception_only bears exceptions whose __str__ raises.
        brief = traceback.format_exception_only(cause)[-1].strip()
        return {
            "is_sample": True,
            "exception_type": type(cause).__qualname__,
            "exception_module": type(cause).__module__,
            "message": f"{error.what} on {who}: {brief}\n{lines}",
        }
    if isinstance(error, DatasetChangedError):
        return {**_OF_NO_SAMPLE, "is_changed": True, "message": str(error)}
    if isinstance(error, DataServiceError):
        message = f"{error} (on {who})"
    else:
        brief = traceback.format_exception_only(error)[-1].strip()
        message = f"A batch could not be prepared on {who}: {brief}\n{_traceback_lines(error)}"
    return {**_OF_NO_SAMPLE, "exception_type": type(error).__name__, "message": message}


def to_error(
    said: Mapping[Any, object], kind: type[BaseException] | None = None
) -> DataServiceError:
    """Return the exception for what an error message says.

    Args:
        said: The message.
        kind: Class of what the dataset raised; None: it is found by the name in the message.

    Raises:
        ProtocolError: It says something else.
    """
    message = _field(said, "message", str)
    if said.get("is_changed") is True:
        return DatasetChangedError(message)
    if not _field(said, "is_sample", bool):
        return DataServiceError(message)
    found = kind or known_class(said.get("exception_module"), said.get("exception_type"))
    return sample_error(message, found)


def read_answer(frame: Message, *, server: str) -> Answer:
    """Return the checked content of an answer.

    Raises:
        ProtocolError: It is not an answer.
    """
    if frame.kind is Kind.BATCH:
        received_bytes = frame.payload_bytes
        return Answer(frame.value, None, server, received_bytes, frame.busy_s, frame.put_wait_s)
    if frame.kind is Kind.ERROR:
        return Answer(None, to_error(_content(frame, Kind.ERROR)), server, 0, 0.0)
    if frame.kind is Kind.END:
        return Answer(None, None, server, 0, 0.0, is_end=True)
    raise ProtocolError(
        f"An answer was expected, but a message of kind {frame.kind.name} came. {SAME_VERSION}"
    )


def _content(frame: Message | None, kind: Kind) -> dict[object, object]:
    if frame is None or frame.kind is not kind or type(frame.value) is not dict:
        came = "nothing" if frame is None else f"a message of kind {frame.kind.name}"
        raise ProtocolError(f"A {kind.name} was expected, but {came} came. {SAME_VERSION}")
    return frame.value


def _field(said: Mapping[Any, object], name: str, kind: type[_T]) -> _T:
    value = said.get(name)
    if type(value) is not kind:
        raise ProtocolError(
            f"A message has {name}={reprlib.repr(value)}, but needs a {kind.__name__}. "
            f"{SAME_VERSION}"
        )
    return value


def _ended(said: object) -> EndedWorker | None:
    match said:
        case None:
            return None
        case {"pid": int(pid), "exit_code": int() | None as exit_code}:
            return EndedWorker(pid=pid, exit_code=exit_code)
    raise ProtocolError(
        f"A hello tells of an ended data worker {reprlib.repr(said)}. {SAME_VERSION}"
    )


def _traceback_lines(error: BaseException) -> str:
    """Return the traceback from the user's code on; our own caller of it tells nothing."""
    frames = error.__traceback__
    if frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    lines = "".join(traceback.format_exception(type(error), error, frames)).rstrip("\n")
    return lines[-_MAX_TRACEBACK_CHARACTERS:]
