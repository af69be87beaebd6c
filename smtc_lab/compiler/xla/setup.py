"""torch_xla, loaded without its traps: quietly, before any backward, once for each process."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import types
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch

from smtc_lab.compiler.torch_names import home_of, how_to_install_xla
from smtc_lab.errors import CompilerError

if TYPE_CHECKING:
    from pathlib import Path

_MULTIPLIER = 6364136223846793005
"""Of Knuth's linear congruential generator with 64 bits."""

_INSTEAD = 'Choose backend="inductor" or backend="eager"'


def import_xla(*, dump_folder: Path | None = None) -> None:
    """Import torch_xla, and use no device yet: copies of this process still can.

    Args:
        dump_folder: Where XLA writes its programs (HLO) as text; None: it does not. Without
            effect once XLA has compiled something in this process.

    Raises:
        CompilerError: torch_xla is missing, or made for another torch.
    """
    if dump_folder is not None:
        dump_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = f"--xla_dump_to={dump_folder.absolute()} --xla_dump_hlo_as_text"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    _import_quietly()


def prepare_xla(*, dump_folder: Path | None = None) -> None:
    """Import torch_xla and make it ready. Must run before the process's first backward.

    Afterwards ``model.to("xla")`` keeps every parameter the object that it was, so that tied
    weights stay tied and an optimizer made earlier still holds the parameters;
    ``torch.utils.checkpoint`` works on XLA tensors.

    Args:
        dump_folder: As for ``import_xla``.

    Raises:
        CompilerError: torch_xla is missing, made for another torch, prepared too late, or has
            no device.
    """
    import_xla(dump_folder=dump_folder)
    _check_backward()
    # Module.to swaps what a parameter holds instead of making another parameter.
    torch.__future__.set_swap_module_params_on_conversion(True)
    if not hasattr(torch, "xla"):
        torch.xla = _device_module()  # type: ignore[attr-defined]  # torch has no module for XLA


def xla_device() -> torch.device:
    """Return the XLA device of this process.

    Raises:
        CompilerError: There is none.
    """
    try:
        device: torch.device = importlib.import_module("torch_xla").device()
    except Exception as error:
        raise CompilerError(
            f"XLA found no device with PJRT_DEVICE={os.environ.get('PJRT_DEVICE')!r}: {error}. "
            f"Set PJRT_DEVICE to CPU or TPU, or unset it. {_INSTEAD}."
        ) from error
    return device


def device_kind() -> str:
    """Return what the XLA device is: ``xla:CPU``, ``xla:TPU``."""
    return f"xla:{os.environ.get('PJRT_DEVICE', 'CPU')}"


def refuse_several_trainers(world_size: int) -> None:
    """Raise where several trainers would have to exchange gradients under XLA.

    Raises:
        CompilerError: ``world_size`` is above 1: XLA's collectives hang on CPU in 2.9.
    """
    if world_size > 1:
        raise CompilerError(
            f"XLA trains in one process here, but the job has {world_size} trainers: the "
            "collectives of torch_xla 2.9 hang on CPU. Give the training group "
            'instance_count=1, or choose backend="inductor", which works with several.'
        )


def _import_quietly() -> None:
    """Import torch_xla; leave logging and torch.compile's settings as they were."""
    if sys.modules.get("torch_xla") is not None:
        return
    dynamo_config = home_of("torch._dynamo.config:automatic_dynamic_shapes")
    compiles_for_any_shape = dynamo_config.automatic_dynamic_shapes
    handlers, disabled = list(logging.root.handlers), logging.root.manager.disable
    # It warns that it takes the CPU where no device was asked for, which is what is meant.
    logging.disable(logging.WARNING)
    try:
        importlib.import_module("torch_xla")
    except ModuleNotFoundError as error:
        raise CompilerError(
            f"The xla backend needs the package {error.name!r}, which is not installed "
            f"({how_to_install_xla()}; Linux only). {_INSTEAD}."
        ) from error
    except (ImportError, OSError) as error:
        raise CompilerError(
            f"torch_xla does not load beside torch {torch.__version__}: {error}. Both must be "
            f"of one release: pip install 'smtc-lab[xla]'. {_INSTEAD}."
        ) from error
    finally:
        logging.disable(disabled)
        # torch_xla calls logging.basicConfig, after which the script's own call does nothing.
        logging.root.handlers[:] = handlers
        # torch_xla switches it off, for inductor too.
        dynamo_config.automatic_dynamic_shapes = compiles_for_any_shape


def _check_backward() -> None:
    """Trace a backward: torch's engine has no place for XLA if it ran before the import.

    Raises:
        CompilerError: It has none.
    """
    probe = torch.ones((), device=xla_device(), requires_grad=True)
    try:
        torch.autograd.grad(probe.mul(2), probe)  # no backward(): those are a script's
    except RuntimeError as error:
        if "INTERNAL ASSERT" not in str(error):
            raise
        raise CompilerError(
            "XLA was made ready after the first backward() of this process, and torch cannot "
            "differentiate on XLA then. Import torch_xla (or smtc_lab, in a job with the xla "
            "backend; with auto, call session.compile and its step) before the first "
            f"backward(). {_INSTEAD}."
        ) from error


def _device_module() -> types.ModuleType:
    """Return what ``torch.utils.checkpoint`` looks for as ``torch.xla``."""
    xm = importlib.import_module("torch_xla.core.xla_model")

    def get_rng_state(device: Any = None) -> int:  # noqa: ANN401, ARG001  torch's signature
        # Within a graph torch_xla knows the state at its begin only. So the state is set to
        # another one, from which forward and recomputation then both go on.
        state = (int(xm.get_rng_state()) * _MULTIPLIER + 1) & (2**63 - 1)
        xm.set_rng_state(state)
        return state

    def set_rng_state(state: int, device: Any = None) -> None:  # noqa: ANN401, ARG001  as above
        xm.set_rng_state(state)

    module = types.ModuleType("torch.xla", "Random state of the XLA device, as torch asks it.")
    vars(module).update(
        _initialized=True,
        device=nullcontext,
        device_count=lambda: 1,
        get_rng_state=get_rng_state,
        set_rng_state=set_rng_state,
    )
    return module
