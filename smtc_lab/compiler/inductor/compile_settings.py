"""Settings of torch.compile under which our models are compiled, in whichever thread."""

from __future__ import annotations

import functools
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from smtc_lab.compiler.torch_names import home_of, needed, optional

if TYPE_CHECKING:
    from collections.abc import Callable

_BACKWARD_SETTING = "torch._functorch.config:force_non_lazy_backward_lowering"


class CompileSettings:
    """Makes whatever cannot be compiled fail in the forward pass, and be told.

    Since torch 2.13 a setting holds for the thread, or the cell of a notebook, that set it.
    """

    def __init__(self) -> None:
        """Apply them here.

        Raises:
            CompilerError: This torch does not have them.
        """
        self._config = home_of("torch._dynamo.config:fail_on_recompile_limit_hit")
        self._before = self._config.fail_on_recompile_limit_hit
        self._hold_here = ContextVar("hold_here", default=False)
        self.apply()

    def apply(self) -> None:
        """Apply them in this thread, if they do not hold in it; costs next to nothing."""
        if self._hold_here.get():
            return
        # Else torch goes on with such code eagerly, and says so in its log only.
        self._config.fail_on_recompile_limit_hit = True
        _compile_backward_at_once()
        self._hold_here.set(True)

    def undo(self) -> None:
        """Refuse nothing any more. A backward pass stays compiled with its forward pass."""
        self._config.fail_on_recompile_limit_hit = self._before


def _compile_backward_at_once() -> None:
    """Make torch compile the backward pass together with the forward pass.

    Else it does so in the first ``backward()``, where nothing can go on eagerly any more: the
    forward pass has run, and saved what only compiled code can read.
    """
    if optional(_BACKWARD_SETTING) is None:
        _change_every_graph()
    else:
        home_of(_BACKWARD_SETTING).force_non_lazy_backward_lowering = True


@functools.cache
def _change_every_graph() -> None:
    """The same where torch has no setting for it: before 2.11."""
    graph: Any = needed("torch._functorch._aot_autograd.schemas:AOTConfig")
    check: Callable[[Any], None] = graph.__post_init__

    def at_once(self: Any) -> None:  # noqa: ANN401  torch's own, under a private name
        check(self)
        self.force_non_lazy_backward_lowering = True

    graph.__post_init__ = at_once
