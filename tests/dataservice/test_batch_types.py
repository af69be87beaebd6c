"""Batches of any known type arrive as they were, and nothing else is made of what came."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import pickle
import sys
import uuid
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from smtc_lab.dataservice import register_type
from smtc_lab.dataservice.protocol import wire
from smtc_lab.dataservice.protocol.wire import Kind
from smtc_lab.errors import DataServiceError, ProtocolError
from tests.kit.wire import raw, received

Image = pytest.importorskip("PIL.Image")


@dataclasses.dataclass
class Sample:
    x: torch.Tensor
    label: str = ""

    def __post_init__(self) -> None:
        self.seen = len(self.label)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: int
    b: tuple[int, ...]


class Color(enum.Enum):
    RED = object()


class Level(enum.IntEnum):
    LOW = 1


class Encoding(UserDict[str, Any]):
    def __init__(self, data: dict[str, Any], marker: int) -> None:
        super().__init__(data)
        self.marker = marker


class Output(OrderedDict[str, Any]):
    pass


class Attributes(dict[str, Any]):
    pass


class Slotted(dict[str, Any]):
    """Has no attributes but its keys, and raises KeyError for others."""

    __slots__ = ()
    __getattr__ = dict.__getitem__


class Stranger:
    def __init__(self, value: int) -> None:
        self.value = value


class Registered(Stranger):
    pass


def there_and_back(value: object) -> Any:
    frame = received(raw(value))
    assert frame is not None
    return frame.value


@pytest.mark.parametrize(
    "value",
    [
        {1, 2, "x"},
        frozenset({(1, 2)}),
        range(3, 30, 2),
        slice(1, None, 2),
        complex(1.5, -2),
        bytearray(b"ab"),
        deque([1, 2], maxlen=3),
        Counter("aab"),
        defaultdict(list, a=[1]),
        SimpleNamespace(a=1, b=[2]),
        dt.date(2026, 11, 23),
        dt.datetime(2026, 11, 23, 9, 5, 1, 7, tzinfo=dt.UTC),
        dt.time(9, 5, fold=1),
        dt.timedelta(days=-1, microseconds=3),
        Decimal("0.10"),
        Fraction(1, 3),
        uuid.UUID(int=7),
        Path("a/b"),
        PurePosixPath("/c"),
        PureWindowsPath("c:/d"),
        Color.RED,
        Level.LOW,
        Frozen(1, (2, 3)),
        Encoding({"ids": [1, 2]}, marker=4),
        Output(a=1),
        Attributes(a=1),
        torch.Size([2, 3]),
        torch.device("cuda", 1),
        torch.bfloat16,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_of_known_types_come_back_as_they_were(value: Any) -> None:
    came = there_and_back([value, {"inside": value}])

    assert [type(one) for one in (came[0], came[1]["inside"])] == [type(value)] * 2
    assert came[0] == came[1]["inside"] == value
    assert getattr(came[0], "__dict__", None) == getattr(value, "__dict__", None)


def test_a_dict_without_attributes_that_answers_for_its_keys_comes_back() -> None:
    came = there_and_back(Slotted(a=1))

    assert type(came) is Slotted
    assert came == {"a": 1}


def test_a_dataclass_brings_its_tensors_and_what_it_knows_beside_its_fields() -> None:
    came = there_and_back(Sample(torch.arange(3), "abc"))

    assert (type(came), came.label, came.seen) == (Sample, "abc", 3)
    assert torch.equal(came.x, torch.arange(3))


def test_a_dataclass_that_this_process_does_not_know_has_its_fields() -> None:
    kind = dataclasses.make_dataclass("Unknown", ["a", "b"])

    came = there_and_back(kind(1, [2]))

    assert (type(came).__name__, came.a, came.b) == ("Unknown", 1, [2])


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "bsc"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_come_back(layout: str) -> None:
    dense = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    options = {"blocksize": (1, 1)} if layout.startswith("bs") else {}
    sparse = (
        dense.to_sparse()
        if layout == "coo"
        else dense.to_sparse(layout=getattr(torch, f"sparse_{layout}"), **options)
    )

    came = there_and_back(sparse)

    assert came.layout == sparse.layout
    assert torch.equal(came.to_dense(), dense)


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged], ids=str)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested")
def test_nested_tensors_come_back(layout: torch.layout) -> None:
    parts = [torch.ones(2, 3), torch.zeros(1, 3)]

    came = there_and_back(torch.nested.nested_tensor(parts, layout=layout))

    assert came.is_nested
    assert came.layout == layout
    assert all(map(torch.equal, came.unbind(), parts))


@pytest.mark.filterwarnings("ignore")
def test_quantized_tensors_come_back() -> None:
    whole = torch.tensor([[0.0, 0.5], [1.0, -1.0]])
    by_tensor = torch.quantize_per_tensor(whole, 0.1, 3, torch.quint8)
    by_channel = torch.quantize_per_channel(
        whole, torch.tensor([0.1, 0.2]), torch.tensor([0, 1]), 0, torch.qint8
    )

    came = there_and_back([by_tensor, by_channel])

    for ours, theirs in zip(came, [by_tensor, by_channel], strict=True):
        assert (ours.dtype, ours.qscheme()) == (theirs.dtype, theirs.qscheme())
        assert torch.equal(ours.int_repr(), theirs.int_repr())
        assert torch.equal(ours.dequantize(), theirs.dequantize())


def test_arrays_of_objects_come_back() -> None:
    array = np.empty((2, 2), dtype=object)
    array[:] = [["a", None], [[1], {2}]]

    came = there_and_back(array)

    assert (came.dtype, came.shape) == (array.dtype, (2, 2))
    assert came.tolist() == array.tolist()


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I", "F", "I;16", "LA", "CMYK"])
def test_images_come_back(mode: str) -> None:
    image = Image.linear_gradient("L").resize((19, 5))
    image = image.convert("I").convert(mode) if mode == "I;16" else image.convert(mode)

    came = there_and_back(image)

    assert (came.mode, came.size) == (mode, (19, 5))
    assert came.tobytes() == image.tobytes()
    assert came.convert("RGBA").tobytes() == image.convert("RGBA").tobytes() or mode == "I;16"


def test_tensors_of_torchvision_come_back_with_what_they_know() -> None:
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    boxes = tv_tensors.BoundingBoxes(torch.ones(1, 4), format="XYXY", canvas_size=(5, 6))

    came = there_and_back([boxes, tv_tensors.Image(torch.zeros(3, 2, 2))])

    assert [type(one) for one in came] == [tv_tensors.BoundingBoxes, tv_tensors.Image]
    assert vars(came[0]) == vars(boxes)
    assert torch.equal(came[0], boxes)


def test_a_batch_encoding_comes_back_without_its_tokenizers_notes() -> None:
    transformers = pytest.importorskip("transformers")
    batch = transformers.BatchEncoding({"input_ids": torch.tensor([[1, 2]])}, n_sequences=1)

    came = there_and_back(batch)

    assert type(came) is transformers.BatchEncoding
    assert torch.equal(came.input_ids, batch["input_ids"])
    assert came.n_sequences == 1


def test_a_script_registers_a_type_of_its_own() -> None:
    register_type(Registered, take=lambda one: one.value, make=Registered)

    came = there_and_back({"key": [Registered(5)]})["key"][0]

    assert (type(came), came.value) == (Registered, 5)


def test_a_stranger_is_pickled_for_those_only_who_ask_for_it() -> None:
    with pytest.raises(DataServiceError, match=r"Stranger, which cannot be sent"):
        wire.pack(Kind.BATCH, 0, Stranger(1))

    message = b"".join(wire.pack(Kind.BATCH, 0, Stranger(1), pickles=True))

    with pytest.raises(ProtocolError, match=r"holds a pickle .*run code in the trainer"):
        received(message)


class Graph:
    """A class that is the script's own, where the script is this file."""

    def __init__(self, nodes: torch.Tensor, *, parts: list[Graph] | None = None) -> None:
        self.nodes, self.parts = nodes, parts or []

    @property
    def size(self) -> int:
        return len(self.nodes) + sum(part.size for part in self.parts)


class Secretive(Graph):
    def __getstate__(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def is_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this file be the script's folder's."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", __file__, raising=False)


@pytest.mark.usefixtures("is_script")
def test_an_object_of_the_scripts_own_class_travels_by_its_attributes() -> None:
    batch = Graph(torch.ones(2), parts=[Graph(torch.zeros(3))])

    came = there_and_back(batch)

    assert type(came) is Graph
    assert came.size == 5
    assert torch.equal(came.parts[0].nodes, torch.zeros(3))


@pytest.mark.usefixtures("is_script")
def test_one_that_says_how_it_is_pickled_does_not() -> None:
    with pytest.raises(DataServiceError, match=r"Secretive, which cannot be sent"):
        wire.pack(Kind.BATCH, 0, Secretive(torch.ones(2)))


@pytest.mark.usefixtures("is_script")
def test_an_object_of_any_other_class_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    message = b"".join(wire.pack(Kind.BATCH, 0, Graph(torch.ones(2))))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/elsewhere/train.py")

    with pytest.raises(ProtocolError, match=r"Graph is no class of the script"):
        received(message)


class Bomb:
    """Says that it was unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import sys; sys.smtc_bomb = True",)


def test_a_pickle_that_nobody_asked_for_is_never_read() -> None:
    with pytest.raises(ProtocolError):
        received(b"".join(wire.pack(Kind.BATCH, 0, [Bomb()], pickles=True)))

    assert not hasattr(sys, "smtc_bomb")
    assert pickle.dumps(Bomb())


@pytest.mark.parametrize(
    ("name", "head", "parts"),
    [
        ("nothing", [], []),
        ("enum", ["os", "environ", "HOME"], []),
        ("userdict", ["subprocess", "Popen"], [{}, {}]),
        ("userdict", ["collections", "UserDict"], []),
        ("dataclass", ["a", "B", ["x"]], []),
        ("dataclass", ["a", "B", ["x y"]], [1, {}]),
        ("path", ["PosixPath", 3], []),
        ("range", [1, 2, 0], []),
        ("range", ["a"], []),
        ("coo", [], []),
        ("sparse", ["coo", [2, 2], True], [torch.tensor([[5], [5]]), torch.ones(1)]),
        ("sparse", ["torch.sparse_csr", [1, 1]], [torch.tensor([0, 9]), torch.tensor([0])]),
        ("quantized", ["torch.quint8", 0.1, 1], [torch.ones(1)]),
        ("quantized", ["torch.quint8", 7], [torch.ones(1, dtype=torch.uint8)] * 3),
        ("nested", [False], [1]),
        ("objects", [5], [1]),
        ("image", ["RGB", 2**20, 2**20, None], [b"abc"]),
        ("image", ["RGB", 20, 20, None], [b"abc"]),
        ("image", ["RGB", -1, 1, None], [b""]),
        ("image", ["exe", 1, 1, None], [b"a"]),
        ("tv_tensor", ["wrap", {}], [torch.ones(1)]),
        ("dtype", ["torch.os"], []),
        ("date", ["no date"], []),
        ("defaultdict", ["eval"], [{}]),
    ],
    ids=str,
)
def test_descriptions_of_no_such_value_are_refused(
    name: str, head: list[Any], parts: list[Any]
) -> None:
    description, buffers = wire.structure.encode(parts)
    assert isinstance(description, list)
    text = wire._to_json(["x", name, head, *description[1:]]).encode()
    payload = b"".join(buffers)
    header = wire.HEADER.pack(
        wire.MAGIC, wire.VERSION, Kind.BATCH, 0, 0, 0, len(text), len(payload)
    )

    with pytest.raises(ProtocolError):
        received(header + text + payload)
