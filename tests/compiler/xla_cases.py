"""What is tried under XLA, in one process of its own: ``python xla_cases.py``.

torch_xla must be imported before any backward, and an import takes seconds. So the cases share
a process; each prints a line of JSON with its name and what it saw, or its failure.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

from smtc_lab.compiler.fast_functions import dropout, scaled_dot_product_attention
from smtc_lab.compiler.xla.backend import XlaStep
from smtc_lab.compiler.xla.linear import linear
from smtc_lab.compiler.xla.move import host_copy
from smtc_lab.compiler.xla.setup import prepare_xla
from smtc_lab.spec.compiler import TrainingCompilerConfig

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))
import step_contract
from step_contract import adamw, batches, make_net, plain_step

from tests.twins import distance, no_toss, twins


def make_step(train_step: Any, model: Any, optimizer: Any, **settings: Any) -> XlaStep:
    config = TrainingCompilerConfig(backend="xla", **settings)
    return XlaStep(train_step, model, optimizer, config=config)


def seen_optimizers() -> Any:
    """Compilations, graphs and losses beside eager ones, of optimizers with state."""
    made = {
        "SGD": lambda it: torch.optim.SGD(it, 0.1, momentum=0.9, weight_decay=0.1),
        "SGD dampened": lambda it: torch.optim.SGD(it, 0.1, momentum=0.9, dampening=0.1),
        "AdamW fused": lambda it: torch.optim.AdamW(it, 0.01, fused=True),
        "Adam amsgrad": lambda it: torch.optim.Adam(it, 0.01, amsgrad=True),
        "Adagrad": lambda it: torch.optim.Adagrad(it, 0.1, initial_accumulator_value=0.1),
        "NAdam": lambda it: torch.optim.NAdam(it, 0.01),
    }
    return {name: _against_eager(make) for name, make in made.items()}


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))

    def forward(self, batch: Any) -> torch.Tensor:
        return functional.cross_entropy(self.layers(batch[0]), batch[1])


def _against_eager(make_optimizer: Any, train_step: Any = plain_step, **settings: Any) -> Any:
    model = Plain()
    optimizer = make_optimizer(model.parameters())
    generator = torch.Generator().manual_seed(2)
    inputs = [torch.randn(4, 6, generator=generator) for _ in range(3)]
    data = [(it, (it[:, 0] > 0).long()) for it in inputs]

    def eagerly(toss: Any) -> Any:
        plain = Plain()
        plain_optimizer = make_optimizer(plain.parameters())
        losses = []
        for it in data:
            toss(plain)
            losses.append(train_step(plain, plain_optimizer, it).detach())
        return {"losses": torch.stack(losses), "variance": plain.layers[1].running_var}

    expected = eagerly(no_toss)
    step = make_step(train_step, model, optimizer, **settings)
    losses = torch.stack([step(it).detach().cpu() for it in data])
    facts = step.facts()
    step.leave()
    learned = {"losses": losses, "variance": model.layers[1].running_var}
    return {
        "losses": losses.tolist(),
        "expected": expected["losses"].tolist(),
        "distance": distance(learned, expected, twins(eagerly)),
        "compilations": facts["compile_time"].compilations,
        "graphs": facts["graphs"],
        "notes": facts["notes"],
        "fused": optimizer.defaults.get("fused"),
    }


def seen_bf16() -> Any:
    return _against_eager(lambda it: torch.optim.AdamW(it, 0.01), precision="bf16")


def seen_reads() -> Any:
    """A step that reads a value on the host, and one operator that XLA has not."""

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(batch)
        if loss.item() > 1e9:
            raise AssertionError
        tokens = batch["tokens"].nonzero().sum()
        (loss + 0 * tokens).backward()
        optimizer.step()
        return loss

    model = make_net()
    step = make_step(train_step, model, adamw(model))
    for batch in batches(3):
        step(batch)
    facts = step.facts()
    step.leave()
    return {
        "graphs": facts["graphs"],
        "breaks": [it.model_dump() for it in facts["graph_breaks"]],
        "host_operators": [it.model_dump() for it in facts["host_operators"]],
    }


def seen_shapes() -> Any:
    model = make_net()
    step = make_step(plain_step, model, adamw(model))
    # Other sizes than in other cases: what was compiled once is not compiled again.
    for batch in batches(4, sizes=[5, 5, 6, 5]):
        step(batch)
    facts = step.facts()
    step.leave()
    return [it.model_dump() for it in facts["recompilations"]]


def seen_resumed() -> Any:
    """Batch norms whose counters are equal, which torch_xla uploads as one."""
    layers = [nn.Linear(7, 9), nn.BatchNorm1d(9), nn.Linear(9, 2), nn.BatchNorm1d(2)]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    data = torch.randn(4, 7, generator=torch.Generator().manual_seed(5))
    for _ in range(3):
        train_step(model, optimizer, data)
    step = make_step(train_step, model, optimizer)
    for _ in range(3):
        step(data)
    compilations = step.facts()["compile_time"].compilations
    step.leave()
    return {
        "compilations": compilations,
        "counters": [int(model[it].num_batches_tracked) for it in (1, 3)],
    }


def seen_identity() -> Any:
    """What the script holds before the step is made, and what is left of it."""
    model = make_net()
    weight, calls = model.head.weight, []
    handle = model.hidden.weight.register_hook(lambda _: calls.append(1))
    optimizer = adamw(model)
    step = make_step(plain_step, model, optimizer)
    step(batches(1)[0])
    on_device = {it.device.type for it in (*model.parameters(), *model.buffers())}
    handle.remove()
    step(batches(1)[0])
    saved = io.BytesIO()
    state = host_copy(model.state_dict(keep_vars=True))
    torch.save([state, host_copy(optimizer.state_dict())], saved)
    step.leave()
    return {
        "same": model.head.weight is weight and model.embedding.weight is weight,
        "in_optimizer": weight in optimizer.state,
        "hook_calls": len(calls),
        "on_device": sorted(on_device),
        "left_on": sorted({it.device.type for it in (*model.parameters(), *model.buffers())}),
        "saved_tie": state["head.weight"] is state["embedding.weight"],
        "saved_mentions_xla": b"xla" in saved.getvalue(),
    }


def seen_failure() -> Any:
    """A first step that fails after it changed everything."""

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        plain_step(model, optimizer, batch)
        torch.rand(3)
        raise RuntimeError("the script's own")

    model = make_net()
    optimizer = adamw(model)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    step = make_step(train_step, model, optimizer)
    random_state = torch.get_rng_state()
    message = _message_of(lambda: step(batches(1)[0]))
    step.leave()
    return {
        "message": message,
        "weights_same": all(
            torch.equal(value, before[name]) for name, value in model.state_dict().items()
        ),
        "random_state_same": torch.equal(torch.get_rng_state(), random_state),
        "steps_counted": [float(it["step"]) for it in optimizer.state.values()],
    }


def _message_of(call: Any) -> str:
    try:
        call()
    except Exception as error:  # noqa: BLE001  a case tells what it saw
        return f"{type(error).__name__}: {error}"
    return ""


class Doubled(nn.Module):
    """Dropout inside and outside checkpoints: the gradient tells which mask it used."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 64))

    def forward(self, ones: torch.Tensor) -> torch.Tensor:
        def dropped(row: torch.Tensor) -> torch.Tensor:
            return functional.dropout(row, 0.5) * row * ones

        first = dropped(self.weight[0])
        rest = [checkpoint(dropped, it, use_reentrant=False) for it in self.weight[1:]]
        return torch.stack([first, *rest])


def seen_dropout() -> Any:
    """Whether gradients belong to the masks of the forward pass, step by step."""
    outputs: list[torch.Tensor] = []

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        outputs.append(model(batch))
        outputs[-1].sum().backward()
        optimizer.step()
        return outputs[-1].sum()

    def two_steps() -> list[Any]:
        torch.manual_seed(3)
        model = Doubled()
        step = make_step(train_step, model, torch.optim.SGD(model.parameters(), 1e-3))
        seen = []
        for _ in range(2):
            weight = model.weight.detach().cpu()
            step(torch.ones(64))
            output = outputs.pop().detach().cpu()
            fits = torch.allclose(model.weight.grad.cpu(), 2 * output / weight, rtol=1e-4)
            seen.append((fits, float(output[0].sum()), bool((output[1] == output[2]).all())))
        seen.append(step.facts()["compile_time"].compilations)
        step.leave()
        return seen

    return {"first": two_steps(), "again": two_steps()}


def seen_evaluation() -> Any:
    """A model that is called between steps with tensors of the host."""
    model = make_net()
    step = make_step(plain_step, model, adamw(model))
    step(batches(1)[0])
    with torch.no_grad():
        loss = model(batches(1)[0])
    step.leave()
    return {"device": loss.device.type, "loss": float(loss)}


def seen_fork() -> Any:
    """Data workers and a child process, forked while XLA runs."""
    model = make_net()
    step = make_step(plain_step, model, adamw(model))
    step(batches(1)[0])
    loader = DataLoader(batches(4), batch_size=None, num_workers=1)
    steps = sum(1 for batch in loader if step(batch) is not None)
    readable, writable = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writable, _message_of(lambda: step(batches(1)[0])).encode())
        os._exit(0)
    os.waitpid(child, 0)
    step.leave()
    return {"steps": steps, "message": os.read(readable, 4096).decode()}


def seen_hugging_face() -> Any:
    """A model with tied weights that looks at the values of its mask."""
    import transformers

    def make() -> Any:
        torch.manual_seed(0)
        sizes = {"n_positions": 16, "n_embd": 16, "n_layer": 1, "n_head": 2}
        dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
        tokens = {"vocab_size": 20, "bos_token_id": 0, "eos_token_id": 0}
        config = transformers.GPT2Config(**sizes, **dropout, **tokens)
        return transformers.GPT2LMHeadModel(config).train()

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        return loss

    mask = torch.ones(2, 8, dtype=torch.long)
    mask[:, 6:] = 0
    ids = torch.arange(16).view(2, 8)
    batch = transformers.BatchEncoding(
        {"input_ids": ids, "attention_mask": mask, "labels": ids}
    )

    def eagerly(toss: Any) -> Any:
        plain = make()
        plain_optimizer, losses = adamw(plain), []
        for _ in range(3):
            toss(plain)
            losses.append(train_step(plain, plain_optimizer, batch).detach())
        return {"losses": torch.stack(losses)}

    model = make()
    step = make_step(train_step, model, adamw(model))
    losses = torch.stack([step(batch).detach().cpu() for _ in range(3)])
    facts = step.facts()
    tied = model.lm_head.weight is model.transformer.wte.weight
    step.leave()
    return {
        "distance": distance({"losses": losses}, eagerly(no_toss), twins(eagerly)),
        "tied": tied,
        "graphs": facts["graphs"],
        "compilations": facts["compile_time"].compilations,
        "notes": facts["notes"],
    }


def seen_linear() -> Any:
    """Outputs and gradients of the replaced function, beside those of the host."""
    generator = torch.Generator().manual_seed(5)
    made = {
        "linear": [(2, 3, 8), (5, 8), (5,)],
        "linear without bias": [(3, 8), (5, 8)],
    }
    return {
        name: _differences(
            [torch.randn(it, generator=generator) for it in shapes], functional.linear, linear
        )
        for name, shapes in made.items()
    }


def _differences(tensors: Any, of_torch: Any, ours: Any) -> list[float]:
    """Relative differences of the output and of each gradient."""
    results = []
    for place, function in (("cpu", of_torch), ("xla", ours)):
        leaves = [it.to(place, copy=True).requires_grad_() for it in tensors]
        output = function(*leaves)
        output.square().sum().backward()
        results.append([it.detach().cpu() for it in (output, *(it.grad for it in leaves))])
    return [float((a - b).norm() / a.norm()) for a, b in zip(*results, strict=True)]


def seen_dropout_numbers() -> Any:
    """How often values are dropped, alone and together with others."""
    values = torch.ones(256, 512, device="xla")
    first, second = (dropout(values, 0.3).cpu() for _ in range(2))
    drops = [(first == 0).double() - 0.3, (second == 0).double() - 0.3]
    one, other = drops
    pairs = {
        "next": one[:, 1:] * one[:, :-1],
        "next row": one[1:] * one[:-1],
        "half a row": one[:, 256:] * one[:, :256],
        "half a tensor": one[128:] * one[:128],
        "other call": one * other,
        "other call, shifted": one[:, 1:] * other[:, :-1],
    }
    return {
        "dropped": [float(it.mean()) + 0.3 for it in drops],
        "kept_as": float(first.max()),
        "of_a_row": float(one.mean(1).var()) * 512 / 0.21,
        "of_a_column": float(one.mean(0).var()) * 256 / 0.21,
        "correlations": {name: float(it.mean()) / 0.21 for name, it in pairs.items()},
        "none": float(dropout(values, 1.0).sum().cpu()),
        "evaluated": bool((dropout(values, 0.3, training=False) == 1).all().cpu()),
    }


def seen_attention() -> Any:
    """Attention and its gradients beside torch's own with the same weights dropped."""
    generator = torch.Generator().manual_seed(6)
    mask = torch.rand(5, 7, generator=generator) < 0.8
    return {
        "plain": _attention(generator, heads=(4, 4)),
        "mask": _attention(generator, heads=(4, 4), attn_mask=mask),
        "bias": _attention(generator, heads=(4, 4), attn_mask=mask.float()),
        "causal, scaled": _attention(generator, heads=(4, 4), is_causal=True, scale=0.7),
        "grouped": _attention(generator, heads=(4, 2), enable_gqa=True),
        "draws_in_step": _draws_of_attention(),
    }


def _draws_of_attention() -> int:
    """Return how often XLA's own generator drew what a step of torch's attention drops."""
    from torch_xla.debug import metrics

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        optimizer.zero_grad()
        loss = model(batch, batch, batch, need_weights=False)[0].sum()
        loss.backward()
        optimizer.step()
        return loss

    model = nn.MultiheadAttention(8, 2, dropout=0.5, batch_first=True)
    make_step(train_step, model, adamw(model))(torch.ones(2, 3, 8))
    drawn = [metrics.counter_value(f"xla::{name}") for name in ("bernoulli", "native_dropout")]
    return sum(count or 0 for count in drawn)


def _attention(generator: Any, *, heads: tuple[int, int], **options: Any) -> Any:
    """Relative differences of output and gradients; share of the weights that were kept."""
    import torch_xla.core.xla_model as xm

    many, few = heads
    shapes = ((2, many, 5, 6), (2, few, 7, 6), (2, few, 7, 3))
    tensors = [torch.randn(shape, generator=generator) for shape in shapes]
    eye = torch.eye(7).expand(2, few, 7, 7)

    def ours(query: Any, key: Any, value: Any) -> Any:
        xm.set_rng_state(1)
        own = {name: _on_xla(option) for name, option in options.items()}
        return scaled_dot_product_attention(query, key, value, dropout_p=0.4, **own)

    kept = ours(*map(_on_xla, (*tensors[:2], eye))).cpu() != 0

    def of_torch(query: Any, key: Any, value: Any) -> Any:
        weights = functional.scaled_dot_product_attention(query, key, eye, **options)
        return weights * kept / 0.6 @ value.repeat_interleave(many // few, 1)

    weights = functional.scaled_dot_product_attention(*tensors[:2], eye, **options)
    return {
        "differences": _differences(tensors, of_torch, ours),
        "kept": float(kept.sum() / (weights != 0).sum()),
    }


def _on_xla(option: Any) -> Any:
    return option.to("xla") if isinstance(option, torch.Tensor) else option


def seen_replaced_functions() -> Any:
    """What a step drops when somebody else has replaced dropout, as a parity launch does."""
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(64, 1, bias=False))
    torch.nn.init.ones_(model[1].weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)

    def kept(input: Any, p: float, training: bool, inplace: bool) -> Any:  # noqa: A002, ARG001, FBT001
        return input

    with patch.object(functional, "dropout", kept):
        step = make_step(sum_step, model, optimizer)
        return step(torch.ones(2, 64)).item()


def sum_step(model: Any, optimizer: Any, batch: Any) -> Any:
    """Train towards a smaller sum."""
    optimizer.zero_grad()
    loss = model(batch).sum()
    loss.backward()
    optimizer.step()
    return loss


def seen_module_to() -> Any:
    """``Module.to``, as an unmodified script calls it."""
    model = make_net()
    weight = model.head.weight
    model.to("xla")
    return {
        "same": model.head.weight is weight and model.embedding.weight is weight,
        "device": weight.device.type,
        "log_handlers": len(logging.root.handlers),
        "inductor_learns_shapes": torch._dynamo.config.automatic_dynamic_shapes,
        "env": os.environ.get("PJRT_DEVICE"),
    }


def main() -> None:
    """Run the checks of the contract and the cases; one line of JSON each."""
    warnings.simplefilter("error")
    prepare_xla()
    runs = {it.__name__: (lambda it=it: it(make_step)) for it in step_contract.CHECKS}
    runs |= {name: run for name, run in globals().items() if name.startswith("seen_")}
    for name, run in runs.items():
        line: dict[str, Any] = {"name": name}
        try:
            line["seen"] = run()
        except Exception:  # noqa: BLE001  the test that reads the line fails with it
            line["failure"] = traceback.format_exc()
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
