"""The variable by which a trainer knows XLA's environment."""

from __future__ import annotations

import pytest

from smtc_lab.machine.environments.xla_environment import (
    XlaEnvironment,
    with_xla_environment,
    xla_environment,
)


def test_what_is_written_is_read() -> None:
    environment = XlaEnvironment(python="/xla/bin/python", path="/a folder/é")

    assert xla_environment(with_xla_environment(environment)) == environment
    assert xla_environment({}) is None


def test_a_damaged_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        xla_environment({"SMTC_XLA_ENVIRONMENT": "/xla/bin/python"})
