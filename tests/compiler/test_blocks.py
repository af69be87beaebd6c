"""Layers that repeat are found, and only where they are most of the model."""

from __future__ import annotations

from types import SimpleNamespace

from torch import nn

from smtc_lab.compiler.inductor.blocks import blocks_worth_compiling, without_generation_cache


def layer(width: int = 4) -> nn.Module:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))


def test_equal_layers_are_compiled_one_by_one() -> None:
    model = nn.Module()
    model.embedding = nn.Embedding(5, 4)
    model.layers = nn.ModuleList([layer() for _ in range(4)])

    assert blocks_worth_compiling(model, per_block=None) == list(model.layers)


def test_three_equal_layers_are_too_few_unless_asked_for() -> None:
    model = nn.Module()
    model.layers = nn.ModuleList([layer() for _ in range(3)])

    assert blocks_worth_compiling(model, per_block=None) == []
    assert blocks_worth_compiling(model, per_block=True) == list(model.layers)
    assert blocks_worth_compiling(model, per_block=False) == []


def test_layers_of_other_shapes_are_not_alike() -> None:
    model = nn.Module()
    model.layers = nn.ModuleList([layer(width) for width in (2, 3, 4, 5)])

    assert blocks_worth_compiling(model, per_block=None) == []


def test_the_odd_layer_of_a_stack_is_compiled_too() -> None:
    model = nn.Module()
    model.layers = nn.ModuleList([layer(8), *(layer() for _ in range(4))])

    assert blocks_worth_compiling(model, per_block=None) == list(model.layers)


def test_a_model_that_is_mostly_something_else_is_compiled_as_a_whole() -> None:
    model = nn.Module()
    model.layers = nn.ModuleList([layer() for _ in range(4)])
    model.others = nn.ModuleList([layer(width) for width in range(2, 12)])

    assert blocks_worth_compiling(model, per_block=None) == []


def test_single_operators_in_a_row_are_no_layers() -> None:
    model = nn.Module()
    model.body = nn.Sequential(*(nn.Linear(4, 4) for _ in range(6)))

    assert blocks_worth_compiling(model, per_block=None) == []


def test_a_model_keeps_no_keys_and_values_until_it_is_undone() -> None:
    model = layer()
    model.config = SimpleNamespace(use_cache=True)
    model[0].config = SimpleNamespace(use_cache=False)

    undo = without_generation_cache(model)
    during = (model.config.use_cache, model[0].config.use_cache)
    undo()

    assert during == (False, False)
    assert (model.config.use_cache, model[0].config.use_cache) == (True, False)
