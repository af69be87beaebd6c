"""Records what an unmodified script gives to the loggers of others.

None of them is imported for it, and each gets what the script gave it.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from smtc_lab.runtime.own_metrics.metric_log import metric_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Methods = Mapping[str, Callable[..., tuple[Mapping[Any, Any], object]]]


def capture_metrics(after_import: Callable[[str, Callable[[], None]], None]) -> None:
    """Record what the loggers of this process are given from now on.

    Args:
        after_import: Has a function called once a module was imported.
    """
    for name in _LOGGERS:
        if name in sys.modules:
            _listen(name)
        else:
            after_import(name, partial(_listen, name))


def _listen(name: str) -> None:
    """Listen to the loggers of a module; one that has others is left alone."""
    for place, given in _LOGGERS[name].items():
        kind, _, method = place.partition(".")
        with suppress(AttributeError):
            logger = getattr(sys.modules[name], kind)
            plain = getattr(logger, method)
            if (logger, method) not in _heard:
                _heard.add((logger, method))
                setattr(logger, method, _captured(plain, given))


_heard: set[tuple[type, str]] = set()


def _captured(plain: Callable[..., Any], given: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that records what it is given, but not what a logger above it was."""

    @wraps(plain)
    def method(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the logger's own
        if _inside.a_logger:
            return plain(*args, **kwargs)
        with suppress(Exception):  # the script must not notice
            metric_log().capture(*given(*args, **kwargs))
        _inside.a_logger = True
        try:
            return plain(*args, **kwargs)
        finally:
            _inside.a_logger = False

    return method


class _InsideLogger(threading.local):
    a_logger = False


_inside = _InsideLogger()
"""Where a thread of the script is now."""


def _of_lightning(
    connector: Any,  # noqa: ANN401  a class of Lightning
    metrics: Mapping[str, Any],
    step: object = None,
) -> tuple[Mapping[Any, Any], object]:
    if step is None and (step := metrics.get("step")) is None:
        loop = connector.trainer.fit_loop.epoch_loop
        step = loop._batches_that_stepped  # noqa: SLF001  so its own loggers are told
    return {name: value for name, value in metrics.items() if name != "step"}, step


_TENSORBOARD: _Methods = {
    "SummaryWriter.add_scalar": lambda _, tag, scalar_value, global_step=None, *__, **___: (
        {tag: scalar_value},
        global_step,
    ),
    "SummaryWriter.add_scalars": lambda _, main_tag, tag_scalar_dict, global_step=None, *__: (
        {main_tag: tag_scalar_dict},
        global_step,
    ),
}
_TRAINER: _Methods = {
    "CallbackHandler.on_log": lambda _, __, state, ___, logs, **____: (logs, state.global_step)
}
_CONNECTOR = "trainer.connectors.logger_connector.logger_connector"
_LIGHTNING: _Methods = {"_LoggerConnector.log_metrics": _of_lightning}

_LOGGERS: Mapping[str, _Methods] = {
    "torch.utils.tensorboard.writer": _TENSORBOARD,
    "tensorboardX.writer": _TENSORBOARD,
    "transformers.trainer_callback": _TRAINER,
    "transformers.trainer": _TRAINER,  # where importing the former imports torch
    f"lightning.pytorch.{_CONNECTOR}": _LIGHTNING,
    f"pytorch_lightning.{_CONNECTOR}": _LIGHTNING,
    "wandb.sdk.wandb_run": {"Run.log": lambda _, data, step=None, *__, **___: (data, step)},
}
"""By module and method, what returns values and step of what it is given."""
