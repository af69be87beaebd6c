"""What holds for the tests of the compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_configure(config: pytest.Config) -> None:
    # torch 2.13 warns of itself where inductor is imported.
    config.addinivalue_line(
        "filterwarnings", "ignore:`torch.jit.script_method` is deprecated:DeprecationWarning"
    )
    # torch warns of Python 3.13.0 when it compiles.
    config.addinivalue_line(
        "filterwarnings", "ignore:Guards may run slower on Python 3.13.0:RuntimeWarning"
    )


@pytest.fixture(scope="session")
def code_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Keep compiled code for all tests of this run, so that equal graphs compile once."""
    folder = str(tmp_path_factory.mktemp("inductor"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", folder)
        yield folder


@pytest.fixture
def fresh_dynamo() -> Iterator[None]:
    """Let a test compile as a new process would."""
    import torch

    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(autouse=True)
def settings_of_torch() -> Iterator[None]:
    """Undo what a compiled model that a test did not leave has set for its process."""
    import torch._dynamo.config as dynamo_config
    from torch.nn import functional

    from smtc_lab.compiler.fast_functions import FASTER_COMPILED

    fails = dynamo_config.fail_on_recompile_limit_hit
    plain = {name: getattr(functional, name) for name in FASTER_COMPILED}
    yield
    dynamo_config.fail_on_recompile_limit_hit = fails
    for name, function in plain.items():
        setattr(functional, name, function)
