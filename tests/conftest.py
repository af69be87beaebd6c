"""What holds for all tests."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import tempfile
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

from smtc_lab.errors import PythonEnvironmentError
from smtc_lab.machine.environments.named import ENVIRONMENTS_VARIABLE, XLA, environments_root
from smtc_lab.machine.environments.probe import EnvironmentFacts, environment_facts
from tests.kit.lanes import ANY, select, table

# What torch and transformers would else do, at an import, before they compile or between two
# operations, takes seconds in each process that a test starts; nothing that we test changes.
QUICK = {
    "USE_TORCH_XLA": "0",  # else transformers imports torch_xla
    "TORCHINDUCTOR_VEC_ISA_OK": "1",  # else a program is compiled to try vector instructions
    "OMP_WAIT_POLICY": "PASSIVE",  # else threads spin on cores that other lanes' tests need
}

# What would lead a tool to the user's own settings, prices or runs.
HOMES = (
    r"XDG_\w+_HOME|JUPYTER_\w+(DIR|PATH)|(IPYTHON|MPLCONFIG)DIR|SMTC_LAB_(HOME|ENVIRONMENTS)"
)

pytest_plugins = [
    "tests.kit.golden_texts",
    "tests.kit.real_runs",
    "tests.kit.run_folders",
    "tests.launching",
]

ENVIRONMENTS = pytest.StashKey[str]()
"""Where this user's Python environments lie, which a test sees only if it asks."""


def pytest_configure(config: pytest.Config) -> None:
    for name, value in QUICK.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(RuntimeError):  # no home folder at all
        config.stash[ENVIRONMENTS] = str(environments_root())
    _live_in_an_own_home(config)
    # A shell starts what runs behind "&" with SIGINT and SIGQUIT ignored, and each process that
    # a test starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    # How long an example takes is the machine's and what else runs there. Which examples are
    # drawn is the test's, so that two runs of one commit say the same; make soak draws others.
    settings.register_profile(
        "smtc_lab",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize="SMTC_LAB_RANDOM_EXAMPLES" not in os.environ,
    )
    settings.load_profile("smtc_lab")


def _live_in_an_own_home(config: pytest.Config) -> None:
    """Need no home folder, and see and leave nothing in the user's."""
    for name in [name for name in os.environ if re.fullmatch(HOMES, name)]:
        del os.environ[name]
    os.environ["HOME"] = home = tempfile.mkdtemp(prefix="smtc lab home ")
    owner = os.getpid()

    def leave() -> None:
        if os.getpid() == owner:
            shutil.rmtree(home, ignore_errors=True)

    config.add_cleanup(leave)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--lane",
        choices=[ANY, *table()[1]],
        help="run the tests of a lane of make test-deep; without it those of make test",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    select(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("xla") is not None and find_spec("torch_xla") is None:
        pytest.skip("needs torch_xla in this environment, as 'make test-deep LANES=xla' has it")
    if item.get_closest_marker("gpu") is None:
        return
    import torch  # it is slow to import, and few tests ask

    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")


@pytest.fixture
def xla_environment(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> EnvironmentFacts:
    """Let the test see this user's environments, and return that of XLA."""
    if find_spec("torch_xla") is not None:
        pytest.skip("torch_xla is at hand here, so XLA needs no other environment")
    monkeypatch.setenv(ENVIRONMENTS_VARIABLE, request.config.stash.get(ENVIRONMENTS, "/none"))
    try:
        return environment_facts(XLA)
    except PythonEnvironmentError as error:
        pytest.skip(f"make xla: {error}")
