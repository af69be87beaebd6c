from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest
import torch
import torch._dynamo
from torch._inductor.cpu_vec_isa import VecISA

from smtc_lab.compiler.inductor.facts import InductorFacts
from smtc_lab.compiler.inductor.guard_words import guard_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "test_inductor_facts.py"

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a")
# torch hides this warning of its own only where warnings are no errors


class Steps:
    """The number of the step that runs."""

    now = 0


@pytest.fixture
def facts() -> Iterator[InductorFacts]:
    torch._dynamo.reset()
    Steps.now = 0
    counting = InductorFacts(current_step=lambda: Steps.now)
    yield counting
    counting.close()
    torch._dynamo.reset()


def line_of(code: str) -> int:
    """Number of the line of this file that begins with this code."""
    lines = inspect.getsource(inspect.getmodule(line_of) or Steps).splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip().startswith(code))


def speaks(x: torch.Tensor) -> torch.Tensor:
    x = x * 2
    print("a graph ends here")  # noqa: T201  the break
    return x + 1


def doubles(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def test_a_process_that_compiled_nothing_has_no_facts(facts: InductorFacts) -> None:
    assert facts.fields() == {}


def test_a_graph_break_names_the_line_of_the_script(facts: InductorFacts) -> None:
    torch.compile(speaks, backend="aot_eager")(torch.ones(3))

    fields = facts.fields()

    (found,) = fields["graph_breaks"]
    assert found.place.file == FILE
    assert found.place.line == line_of('print("a graph')
    assert found.place.code.startswith('print("a graph ends here")')
    assert "builtin operator `print`" in found.reason
    assert "\n" not in found.reason
    assert fields["graphs"] == 2


def test_a_branch_on_a_value_is_a_graph_break_in_words(facts: InductorFacts) -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # the branch
            x = x + 1
        return x * 2

    torch.compile(branches, backend="aot_eager")(torch.ones(3))

    (found,) = facts.fields()["graph_breaks"]
    assert found.reason == "A branch depends on the value of a tensor."
    assert found.place.line == line_of("if x.sum() > 0")


def test_a_recompilation_names_the_shape_that_changed_and_its_step(
    facts: InductorFacts,
) -> None:
    compiled = torch.compile(doubles, backend="aot_eager")
    compiled(torch.ones(2, 36))
    Steps.now = 7
    compiled(torch.ones(2, 41))
    Steps.now = 8
    compiled(torch.ones(2, 44))

    fields = facts.fields()

    assert [one.cause for one in fields["recompilations"]] == ["x.size(1): 36 -> 41"]
    (found,) = fields["recompilations"]
    assert found.step == 7
    assert found.seconds > 0
    assert (found.place.file, found.place.line) == (FILE, line_of("def doubles"))
    assert fields["graphs"] == 1
    assert fields["compile_time"].compilations == 2


def test_what_follows_from_a_recompilation_counts_to_its_seconds(facts: InductorFacts) -> None:
    compiled = torch.compile(speaks, backend="aot_eager")
    compiled(torch.ones(3, requires_grad=True)).sum().backward()
    compiled(torch.ones(4, requires_grad=True)).sum().backward()

    fields = facts.fields()

    total = sum(found.seconds for found in fields["recompilations"])
    assert len(fields["recompilations"]) == 2
    assert 0 < total < fields["compile_time"].total_s


def test_code_that_is_given_up_is_a_note_and_no_recompilation(facts: InductorFacts) -> None:
    compiled = torch.compile(doubles, backend="aot_eager", dynamic=False)
    with torch._dynamo.config.patch(recompile_limit=2):
        for size in range(2, 6):
            compiled(torch.ones(size))
        fields = facts.fields()

    assert [found.cause for found in fields["recompilations"]] == ["x.size(0): 2 -> 3"]
    (note,) = fields["notes"]
    assert note.startswith(f"doubles ({FILE}, line {line_of('def doubles')}) was compiled 2 ")
    assert note.endswith("the last cause was x.size(0): 3 -> 4.")


def test_a_second_count_begins_at_nothing(facts: InductorFacts) -> None:
    torch.compile(doubles, backend="aot_eager")(torch.ones(3))
    facts.close()

    second = InductorFacts(current_step=lambda: 0)

    assert second.fields() == {}
    second.close()
    second.close()


def test_more_compilations_than_torch_remembers_are_counted() -> None:
    torch._dynamo.reset()
    torch._dynamo.utils.set_compilation_metrics_limit(2)
    facts = InductorFacts(current_step=lambda: 0)
    compiled = torch.compile(doubles, backend="eager", dynamic=False)
    for size in range(2, 6):
        compiled(torch.ones(size))

    assert facts.fields()["compile_time"].compilations == 4
    facts.close()


@pytest.mark.usefixtures("code_cache")
def test_inductor_tells_where_its_time_went_and_what_it_fused(
    facts: InductorFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VecISA, "check_build", lambda *_: True)  # it starts three processes
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4), torch.nn.GELU())
    torch.compile(model)(torch.ones(3, 4)).sum().backward()

    fields = facts.fields()

    time = fields["compile_time"]
    assert time.capture_s > 0
    assert time.lowering_s > 0
    assert time.code_generation_s > 0
    parts = time.capture_s + time.lowering_s + time.code_generation_s
    assert parts == pytest.approx(time.total_s)
    assert fields["operators"] > fields["kernels"] >= fields["fused_kernels"] > 0
    assert fields["kernels"] > fields["fused_kernels"]  # the products of matrices
    assert fields["cache_hits"] + fields["cache_misses"] == 2  # forward and backward
    assert fields["graph_breaks"] == ()


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "0/0: tensor 'L['x']' size mismatch at index 1. expected 36, actual 41",
            "x.size(1): 36 -> 41",
        ),
        (
            "7/2: tensor 'x' dtype mismatch. expected Float, actual Double",
            "x.dtype: Float -> Double",
        ),
        ("7/3: tensor 'x' rank mismatch. expected 1, actual 2", "x.rank: 1 -> 2"),
        (
            "7/0: k == 1              # def f(x,k): return x*k  # a/t.py:21 in f",
            "k is not 1 any more",
        ),
        (
            "7/1: ___check_type_id(L['k'], 139849594404064)    # return x*k",
            "k is of another type",
        ),
        ("8/0: 2 <= L['x'].size()[0] <= 5  # if x.shape[0]>5:", "x.size(0) is not 2 to 5"),
        ("0/1: 2 <= x.size()[0]  # return F.linear(input)", "x.size(0) is not 2 or more"),
        ("8/2: GLOBAL_STATE changed: grad_mode ", "changed: grad_mode"),
        ("3/4: something that nobody has seen", "something that nobody has seen"),
        ("", "not known"),
    ],
)
def test_a_guard_that_failed_is_said_in_words(reason: str, words: str) -> None:
    assert guard_in_words(reason) == words
