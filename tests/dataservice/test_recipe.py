"""What a trainer sends of a loader, and what comes out of it elsewhere."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import nn

from smtc_lab.dataservice.protocol.wire import Kind, pack
from smtc_lab.dataservice.recipe import packing, surroundings
from smtc_lab.dataservice.recipe.opening import read_recipe
from smtc_lab.dataservice.recipe.packing import Recipe, packed
from smtc_lab.dataservice.source import LoaderSource
from smtc_lab.errors import DataServiceError, ProtocolError, UnsendableError
from tests.kit.runs import PATIENCE_S
from tests.kit.wire import raw, received

if TYPE_CHECKING:
    import io
    from collections.abc import Callable

    from numpy.typing import NDArray

LARGE, SMALL = 2**14, 2**4
"""Numbers in a tensor that goes beside the pickle, and in one that goes inside."""

SCRIPT = """
import enum, functools, os, sys
from pathlib import Path
from typing import Generic, TypeVar

import torch
from torch.utils.data import Dataset

from smtc_lab.dataservice.batch_types.registry import register_type
from smtc_lab.dataservice.recipe.packing import packed
from smtc_lab.dataservice.source import LoaderSource

T = TypeVar("T")
FACTOR = 3

class Color(enum.Enum):
    RED = 1

class Point:
    def __init__(self, x):
        self.x = x

def scaled(number):
    return FACTOR * number

@functools.lru_cache(maxsize=9)
def factorial(number):
    return number * factorial(number - 1) if number else 1

def of_factor(factor):
    class Scaled:
        def __getitem__(self, index):
            return factor * index
    return Scaled

class Numbers(Dataset[T], Generic[T]):
    def __init__(self, shift):
        self.shifted = lambda number: number + shift
        self.color = Color.RED
        self.scaled = [of_factor(10)(), of_factor(100)()]

    @functools.cached_property
    def offset(self):
        return 1000

    def __getitem__(self, index):
        return scaled(self.shifted(index)) + self.offset, factorial(index), self.color.name

    def from_the_search_path(self):
        import beside_nothing, tabnanny
        return beside_nothing.WHAT, tabnanny.WHAT

    def point(self):
        return Point(4)

class Numbered(Numbers[int]):
    def __getitem__(self, index):
        return (index, *super().__getitem__(index))

def joined_by(separator):
    def joined(samples):
        return separator.join(map(str, samples))
    return joined

register_type(Point, take=lambda point: [point.x], make=lambda parts: Point(*parts))
os.environ["SET_BY_THE_SCRIPT"] = "yes"
del os.environ["TAKEN_BY_THE_SCRIPT"]
sys.path.insert(0, os.path.abspath("first"))
sys.path.append(os.path.abspath("last"))
torch.set_default_dtype(torch.float64)
source = LoaderSource(
    dataset=Numbered(2), collate_fn=joined_by("+"), auto_collation=True,
    worker_init_fn=lambda number: FACTOR + number,
)
Path(sys.argv[1]).write_bytes(b"".join(packed(source).message()))
"""


class Holder(SimpleNamespace):
    """A dataset, or a part of one, that has what it is given."""


def over(dataset: object, **more: Any) -> LoaderSource:
    parts: dict[str, Any] = {"collate_fn": list, "auto_collation": True}
    return LoaderSource(dataset=dataset, **parts | more)


def sent(recipe: Recipe) -> Any:
    return read_recipe(received(b"".join(recipe.message())))  # type: ignore[arg-type]


@pytest.fixture
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what opening a recipe does to a process, which else opens nothing."""
    monkeypatch.setattr(surroundings, "name_script", lambda _: None)
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def there(as_before: None) -> Callable[..., Any]:
    """Return what becomes of a dataset that is sent."""
    del as_before

    def become(dataset: object, **options: Any) -> Any:
        return sent(packed(over(dataset), **options)).open().dataset

    return become


def said_elsewhere(function: Callable[[bytes], object], recipe: bytes) -> Any:
    """Return what a function returns in a process of its own, where it is no trouble."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def say() -> None:
        torch.set_num_threads(1)
        os.environ["TAKEN_BY_THE_SCRIPT"] = "there"
        theirs.send(function(recipe))

    process = context.Process(target=say)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: threads and forks
        process.start()
    theirs.close()
    with ours:
        assert ours.poll(PATIENCE_S), "it said nothing"
        said = ours.recv()
    process.join()
    return said


# Classes and functions of the script itself


@pytest.fixture(scope="module")
def folder_of_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("script")
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    modules = {"first/tabnanny.py": "not Python's own", "last/beside_nothing.py": "found"}
    for name, what in modules.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(f"WHAT = {what!r}", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def recipes(folder_of_script: Path) -> list[bytes]:
    """What two trainers that run one script would send, as it goes over the network."""
    trainers = []
    for rank in range(2):
        told = {"RANK": str(rank), "TAKEN_BY_THE_SCRIPT": "here"}
        command = [sys.executable, "train.py", str(rank)]
        trainers.append(
            subprocess.Popen(command, cwd=folder_of_script, env={**os.environ, **told})
        )
    assert [trainer.wait(PATIENCE_S) for trainer in trainers] == [0, 0]
    return [(folder_of_script / str(rank)).read_bytes() for rank in range(2)]


def opened_elsewhere(recipe: bytes) -> dict[str, Any]:
    source: Any = read_recipe(received(recipe)).open()  # type: ignore[arg-type]
    dataset = source.dataset
    point: Any = received(raw(dataset.point()))
    return {
        "samples": [dataset[2], dataset[4]],
        "classes of one name": [scaled[2] for scaled in dataset.scaled],
        "batch": source.collate_fn([1, 2]),
        "init": source.worker_init_fn(1),
        "modules": dataset.from_the_search_path(),
        "point": point.value.x,
        "folder": str(Path.cwd()),
        "set": os.environ.get("SET_BY_THE_SCRIPT"),
        "taken": os.environ.get("TAKEN_BY_THE_SCRIPT"),
        "rank": os.environ.get("RANK"),
        "dtype": torch.get_default_dtype(),
    }


@pytest.fixture(scope="module")
def opened(recipes: list[bytes]) -> dict[str, Any]:
    """What is seen where the script has not run."""
    said: dict[str, Any] = said_elsewhere(opened_elsewhere, recipes[0])
    return said


def test_classes_lambdas_and_closures_of_the_script_are_there(opened: dict[str, Any]) -> None:
    assert opened["samples"] == [(2, 1012, 2, "RED"), (4, 1018, 24, "RED")]
    assert opened["batch"] == "1+2"
    assert opened["init"] == 4


def test_two_classes_of_one_name_stay_two(opened: dict[str, Any]) -> None:
    assert opened["classes of one name"] == [20, 200]


def test_what_the_script_has_set_up_is_there(
    opened: dict[str, Any], folder_of_script: Path
) -> None:
    assert opened["folder"] == str(folder_of_script)
    assert (opened["set"], opened["taken"]) == ("yes", None)
    assert opened["modules"] == ("found", "not Python's own")
    assert opened["dtype"] is torch.float64


def test_the_rank_of_a_trainer_is_not_what_it_has_set(opened: dict[str, Any]) -> None:
    assert opened["rank"] == os.environ.get("RANK")


def test_types_that_the_script_registers_for_batches_are_registered_there(
    opened: dict[str, Any],
) -> None:
    assert opened["point"] == 4


def test_trainers_that_run_one_script_send_the_same(recipes: list[bytes]) -> None:
    first, second = recipes

    assert first == second


def test_without_cloudpickles_private_names_only_that_is_lost(
    monkeypatch: pytest.MonkeyPatch, there: Callable[..., Any]
) -> None:
    class Doubled:
        def __getitem__(self, index: int) -> int:
            return 2 * index

    monkeypatch.setattr(packing, "_TRACKER", ("_NO_SUCH_NAME",))

    assert there(Doubled())[4] == 8


# Tensors


def noise(count: int) -> torch.Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(count))


def tagged(count: int) -> torch.Tensor:
    tensor = noise(count)
    tensor.tag = "of the user"  # type: ignore[attr-defined]
    return tensor


TENSORS: dict[str, Callable[[int], torch.Tensor]] = {
    "plain": noise,
    "integers": torch.arange,
    "bfloat16": lambda count: noise(count).bfloat16(),
    "that requires grad": lambda count: noise(count).requires_grad_(),
    "parameter": lambda count: nn.Parameter(noise(count)),
    "frozen parameter": lambda count: nn.Parameter(noise(count), requires_grad=False),
    "with an offset": lambda count: noise(count)[count // 2 :],
    "strided": lambda count: noise(count).reshape(2, -1).t()[::2],
    "channels last": lambda count: (
        noise(count).reshape(1, 2, -1, 4).contiguous(memory_format=torch.channels_last)
    ),
    "expanded": lambda count: noise(count).expand(3, count),
    "conjugate": lambda count: noise(count).to(torch.complex64).conj(),
    "sparse": lambda count: noise(count).relu().to_sparse(),
    "tagged": tagged,
    "empty": lambda count: torch.empty(0, count),
    "without dimensions": lambda count: torch.tensor(float(count)),
}


@pytest.mark.parametrize("count", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("name", TENSORS)
def test_a_tensor_arrives_as_it_was(there: Callable[..., Any], name: str, count: int) -> None:
    tensor = TENSORS[name](count)

    came = there([tensor])[0]

    assert type(came) is type(tensor)
    assert (came.dtype, came.layout) == (tensor.dtype, tensor.layout)
    assert (came.requires_grad, came.is_leaf) == (tensor.requires_grad, True)
    if tensor.layout is torch.strided:
        assert (came.shape, came.stride()) == (tensor.shape, tensor.stride())
    assert torch.equal(*(each.detach().to_dense() for each in (came, tensor)))
    assert vars(came) == vars(tensor)


@pytest.mark.parametrize("count", [LARGE, SMALL], ids=["large", "small"])
def test_views_of_one_memory_still_share_it(there: Callable[..., Any], count: int) -> None:
    whole = noise(count)
    parts = Holder(whole=whole, half=whole[count // 2 :], weight=nn.Parameter(whole))
    apart = whole.clone()

    came = there([parts, apart])
    came[0].half[0] = 7.0

    assert came[0].whole[count // 2] == came[0].weight[count // 2] == 7.0
    assert torch.equal(came[1], apart)


def address(memory: Any) -> int:
    array: NDArray[Any] = np.frombuffer(memory, np.uint8)
    return array.ctypes.data


def test_large_memory_is_not_copied_to_be_sent() -> None:
    tensor, array = noise(LARGE), np.arange(LARGE)

    recipe = packed(over([tensor, tensor[5:], array]))

    expected = [tensor.data_ptr(), array.ctypes.data]
    assert [address(buffer) for buffer in recipe.buffers] == expected
    assert [address(part) for part in recipe.message()[-2:]] == expected
    assert recipe.nbytes == len(recipe.body) + tensor.nbytes + array.nbytes


def test_small_memory_is_part_of_the_pickle() -> None:
    assert packed(over([noise(SMALL), np.arange(SMALL)])).buffers == []


def test_a_tensor_on_another_device_is_refused() -> None:
    with pytest.raises(UnsendableError, match=r"dataset\.images \(Tensor\): it lies on meta"):
        packed(over(Holder(images=torch.empty(3, device="meta"))))


# Mapped files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "samples.bin"
    np.arange(LARGE, dtype=np.int32).tofile(path)
    return path


MAPPED: dict[str, Callable[[Any], Any]] = {
    "whole": lambda array: array,
    "slice": lambda array: array[100:-100],
    "slice of a slice": lambda array: array[100:][50:60],
    "rows": lambda array: array.reshape(-1, 4)[3:9],
}


@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize("part", MAPPED)
def test_a_mapped_file_goes_by_its_name(
    there: Callable[..., Any], file: Path, mode: Any, part: str
) -> None:
    array = MAPPED[part](np.memmap(file, np.int32, mode, offset=400))
    recipe = packed(over([array]))

    came = there([array])[0]

    assert recipe.files == [(str(file), file.stat().st_size)]
    assert recipe.buffers == []
    assert type(came) is np.memmap
    assert came.filename == str(file)
    assert came.flags.writeable == (mode == "r+")
    assert np.array_equal(came, array)


def test_what_is_written_into_a_mapped_file_elsewhere_stays_there(
    there: Callable[..., Any], file: Path
) -> None:
    array = np.memmap(file, np.int32, "r+")

    there([array])[0][0] = 99

    assert array[0] == np.fromfile(file, np.int32)[0] == 0


def whole(file: Path) -> Any:
    return np.memmap(file, np.int32, "r")


def without_its_file(file: Path) -> Any:
    array = whole(file)
    file.unlink()
    return array


CONTENTS: dict[str, tuple[Callable[[Path], Any], dict[str, Any]]] = {
    "where names are of no use": (whole, {"names_files": False}),
    "with changes of its own": (lambda file: np.memmap(file, np.int32, "c"), {}),
    "that is not one piece": (lambda file: whole(file).reshape(-1, 8)[:, 1:3], {}),
    "whose file is gone": (without_its_file, {}),
}


@pytest.mark.parametrize("why", CONTENTS)
def test_a_mapped_file_goes_as_its_content(
    there: Callable[..., Any], file: Path, why: str
) -> None:
    make, options = CONTENTS[why]
    array = make(file)

    came = there([array], **options)[0]

    assert packed(over([array]), **options).files == []
    assert type(came) is np.ndarray
    assert np.array_equal(came, array)


def test_a_mapped_file_that_is_not_there_is_noticed(file: Path) -> None:
    recipe = packed(over([whole(file)]))

    assert not sent(recipe).lacks_files()
    file.write_bytes(b"of another size")
    assert sent(recipe).lacks_files()
    file.unlink()
    assert sent(recipe).lacks_files()


# Digests


def full() -> Holder:
    transforms = [nn.Linear(2, 3), lambda sample: sample + 1]
    return Holder(images=torch.zeros(LARGE), epoch=0, transforms=transforms)


def darken(dataset: Any) -> None:
    dataset.images[-1] = 1


def begin_another_epoch(dataset: Any) -> None:
    dataset.epoch = 1


def take_another_transform(dataset: Any) -> None:
    dataset.transforms[1] = lambda sample: sample + 2


def learn(dataset: Any) -> None:
    with torch.no_grad():
        dataset.transforms[0].bias[0] = 1.0


def test_equal_content_has_an_equal_digest() -> None:
    torch.manual_seed(3)
    first = packed(over(full())).digest
    torch.manual_seed(3)

    assert packed(over(full())).digest == first


@pytest.mark.parametrize("change", [darken, begin_another_epoch, take_another_transform, learn])
def test_changed_content_has_another_digest(change: Callable[[Any], None]) -> None:
    dataset = full()
    before = packed(over(dataset)).digest

    change(dataset)

    assert packed(over(dataset)).digest != before


def test_another_collate_fn_or_worker_init_fn_has_another_digest() -> None:
    sources = [over([1]), over([1], collate_fn=tuple), over([1], worker_init_fn=print)]

    assert len({packed(source).digest for source in sources}) == 3


def test_a_dataset_that_changes_before_it_is_sent_is_not_sent() -> None:
    dataset = full()
    recipe = packed(over(dataset))

    darken(dataset)

    with pytest.raises(DataServiceError, match="it changed while it was sent"):
        recipe.message()


# What cannot be sent


@pytest.fixture
def unsendable(tmp_path: Path) -> Any:
    (tmp_path / "index").write_bytes(b"0 1 2")
    with (
        (tmp_path / "index").open("rb") as binary,
        (tmp_path / "index").open(encoding="ascii") as text,
        concurrent.futures.ThreadPoolExecutor(1) as pool,
    ):
        yield SimpleNamespace(binary=binary, text=text, lock=threading.Lock(), pool=pool)


def reading(file: io.BufferedReader) -> Callable[[list[object]], object]:
    def collate(samples: list[object]) -> object:
        return samples, file.read()

    return collate


def taking(lock: Any) -> Callable[[int], None]:
    return lambda _: lock.acquire()


UNSENDABLE: dict[str, Callable[[Any], LoaderSource]] = {
    r"dataset\.inner\.file \(BufferedReader\): ": lambda held: over(
        Holder(name="train", inner=Holder(file=held.binary))
    ),
    r"dataset\.lines \(TextIOWrapper\): ": lambda held: over(Holder(lines=held.text)),
    r"dataset\.parts\[1\]\['lock'\] \(lock\): ": lambda held: over(
        Holder(parts=[0, {"name": "b", "lock": held.lock}])
    ),
    r"dataset\.pool\._\w+ \(\w+\): cannot pickle ": lambda held: over(Holder(pool=held.pool)),
    r"dataset\[0\] \(generator\): ": lambda _: over([(i for i in "ab")]),
    r"collate_fn \(function\): .*BufferedReader": lambda held: over(
        [1], collate_fn=reading(held.binary)
    ),
    r"worker_init_fn \(function\): .*lock": lambda held: over(
        [1], worker_init_fn=taking(held.lock)
    ),
}


@pytest.mark.parametrize("said", UNSENDABLE)
def test_what_cannot_be_sent_is_named_with_its_path(unsendable: Any, said: str) -> None:
    with pytest.raises(UnsendableError, match=f"^{said}"):
        packed(UNSENDABLE[said](unsendable))


def test_the_standard_streams_are_those_of_the_process_there(
    monkeypatch: pytest.MonkeyPatch, there: Callable[..., Any], tmp_path: Path
) -> None:
    with (tmp_path / "log").open("w", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdout", file)

        assert there(Holder(out=sys.stdout)).out is sys.stdout


def test_what_is_too_large_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAX_FRAME_BYTES", 4 * LARGE)

    with pytest.raises(
        UnsendableError, match=rf"has \d+ bytes .* at most {4 * LARGE} .* numpy\.memmap"
    ):
        packed(over(noise(LARGE)))


# Damage


def message_of(recipe: Recipe, **changed: Any) -> Any:
    """Return the message that brings a recipe, with other parts."""
    parts: dict[str, Any] = {
        "digest": recipe.digest.hex(),
        "files": [],
        "body": np.frombuffer(recipe.body, np.uint8),
        "buffers": [np.frombuffer(view, np.uint8) for view in recipe.buffers],
    }
    digest, files, body, buffers = (parts | changed).values()
    return received(b"".join(pack(Kind.RECIPE, 0, [digest, files, body, *buffers])))


def test_an_undamaged_recipe_is_read() -> None:
    recipe = packed(over(noise(LARGE)))

    assert read_recipe(message_of(recipe)).body == recipe.body


ANOTHER = np.arange(4 * LARGE, dtype=np.uint8)
DAMAGED: dict[str, dict[str, Any]] = {
    "another digest": {"digest": "00" * 16},
    "no digest": {"digest": "of nothing"},
    "a number for a digest": {"digest": 5},
    "another body": {"body": ANOTHER},
    "text for a body": {"body": "of text"},
    "other memory": {"buffers": [ANOTHER]},
    "no memory": {"buffers": []},
    "text for memory": {"buffers": ["of text"]},
    "a number for files": {"files": 3},
    "files without sizes": {"files": ["name"]},
    "files with sizes of another kind": {"files": [["name", "large"]]},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_recipe_is_not_read(damage: str) -> None:
    message = message_of(packed(over(noise(LARGE))), **DAMAGED[damage])

    with pytest.raises(ProtocolError, match=r"[Rr]ecipe|RECIPE"):
        read_recipe(message)


def test_another_message_is_no_recipe() -> None:
    message: Any = received(raw(["00" * 16, [], ANOTHER]))

    with pytest.raises(ProtocolError, match="A RECIPE was expected, but BATCH"):
        read_recipe(message)
