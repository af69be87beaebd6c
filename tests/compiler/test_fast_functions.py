"""Dropout and attention as Inductor compiles them: the same as torch's, but for the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from smtc_lab.compiler.fast_functions import FASTER_COMPILED, replaced
from smtc_lab.compiler.inductor.backend import CompiledModel
from smtc_lab.spec.compiler import TrainingCompilerConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Compile = Callable[[nn.Module], nn.Module]

CONFIG = TrainingCompilerConfig(backend="inductor")
P = 0.3

pytestmark = pytest.mark.usefixtures("fresh_dynamo", "code_cache")


class Dropping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = nn.Dropout(P)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        dropped: torch.Tensor = self.drop(values)
        return dropped * 2


class Attending(nn.Module):
    """Attention to values that are unit vectors: what it returns are its weights."""

    def forward(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        value = torch.eye(key.size(-2)).expand(*key.shape[:-1], key.size(-2))
        return functional.scaled_dot_product_attention(
            query, key, value, dropout_p=P if self.training else 0.0, is_causal=True
        )


@pytest.fixture
def compiled() -> Iterator[Compile]:
    made = []

    def compile_it(model: nn.Module) -> nn.Module:
        made.append(CompiledModel(model, CONFIG))
        return model

    yield compile_it
    for it in made:
        it.leave()


def test_each_value_is_dropped_alone_with_the_probability(compiled: Compile) -> None:
    model = compiled(Dropping())
    values = torch.ones(256, 512)

    first, second = model(values), model(values)

    one, other = ((it == 0).double() - P for it in (first, second))
    pairs = {
        "next": one[:, 1:] * one[:, :-1],
        "next row": one[1:] * one[:-1],
        "half a tensor": one[128:] * one[:128],
        "other call": one * other,
    }
    assert float(one.mean()) == pytest.approx(0, abs=0.006)  # five standard errors
    assert float(other.mean()) == pytest.approx(0, abs=0.006)
    assert {name: float(it.mean()) / 0.21 for name, it in pairs.items()} == {
        name: pytest.approx(0, abs=0.02) for name in pairs
    }
    assert torch.unique(first).tolist() == pytest.approx([0, 2 / (1 - P)])


def test_gradients_belong_to_what_was_kept_and_seeds_repeat_it(compiled: Compile) -> None:
    model = compiled(Dropping())

    def look() -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(3)
        values = torch.ones(40, 8, requires_grad=True)
        output = model(values)
        output.sum().backward()
        assert values.grad is not None
        return output.detach(), values.grad

    output, gradient = look()
    again, _ = look()

    assert torch.equal(output, gradient)
    assert torch.equal(output, again)
    assert 0 < int((output == 0).sum()) < output.numel()


def test_batches_of_another_size_drop_too(compiled: Compile) -> None:
    model = compiled(Dropping())

    for size in (3, 5, 7, 11):
        dropped = float((model(torch.ones(size, 1000)) == 0).double().mean())
        assert dropped == pytest.approx(P, abs=0.05)


def test_attention_drops_weights_and_else_is_what_it_was(compiled: Compile) -> None:
    generator = torch.Generator().manual_seed(6)
    query, key = (torch.randn(2, 4, 32, 8, generator=generator) for _ in range(2))
    model = Attending()
    expected = model.eval()(query, key)
    model = compiled(model.train())

    weights = model(query, key)

    kept = weights != 0
    asked = expected != 0
    torch.testing.assert_close(weights[kept] * (1 - P), expected[kept])
    assert float(kept[asked].double().mean()) == pytest.approx(1 - P, abs=0.04)
    assert not kept[~asked].any()


def test_attention_computes_in_the_precision_of_autocast(compiled: Compile) -> None:
    generator = torch.Generator().manual_seed(6)
    query, key = (torch.randn(2, 4, 32, 8, generator=generator) for _ in range(2))
    model = compiled(Attending())

    with torch.autocast("cpu", torch.bfloat16):
        expected = functional.scaled_dot_product_attention(query, key, key)
        weights = model(query, key)

    assert weights.dtype == expected.dtype == torch.bfloat16


def test_uncompiled_it_is_torch_itself() -> None:
    plain: dict[str, Any] = {name: getattr(functional, name) for name in FASTER_COMPILED}
    values = torch.ones(20, 20)

    def draw() -> torch.Tensor:
        torch.manual_seed(4)
        return functional.dropout(values, P)

    expected = draw()
    with replaced(FASTER_COMPILED):
        assert functional.dropout is not plain["dropout"]
        assert torch.equal(draw(), expected)
    assert {name: getattr(functional, name) for name in FASTER_COMPILED} == plain


def test_what_somebody_else_put_in_its_place_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(values: torch.Tensor, *_: Any) -> torch.Tensor:
        return values

    monkeypatch.setattr(functional, "dropout", never)

    with replaced(FASTER_COMPILED):
        assert functional.dropout is never
