from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtc_lab.errors import SpecError
from smtc_lab.instance.hyperparameters import (
    decode_hyperparameters,
    encode_hyperparameters,
    split_hyperparameters,
    user_args,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXT, values, max_size=3),
    max_leaves=4,
)
NAMES = st.text("abzAZ_.-019", min_size=1, max_size=8).map("n{}".format) | st.sampled_from(
    "kZ_"
)


@given(values=st.dictionaries(NAMES, JSON_VALUES, max_size=4))
def test_values_survive_the_wire(values: dict[str, object]) -> None:
    encoded = encode_hyperparameters(values)

    assert all(isinstance(text, str) for text in encoded.values())
    assert decode_hyperparameters(json.loads(json.dumps(encoded))) == values


@given(values=st.dictionaries(NAMES, JSON_VALUES, max_size=4))
def test_every_hyperparameter_of_the_script_is_one_name_and_one_value(
    values: dict[str, object],
) -> None:
    arguments = user_args(values)

    own = sorted(split_hyperparameters(values).user)
    assert [name.lstrip("-") for name in arguments[::2]] == [n.lstrip("-") for n in own]
    assert len(arguments) == 2 * len(own)


def test_arguments_are_sorted_and_written_as_the_toolkit_writes_them() -> None:
    arguments = user_args(
        {
            "lr": 0.1,
            "k": "v",
            "flag": True,
            "none": None,
            "list": [1, "a"],
            "d": {"b": 1, "a": 2},
        }
    )

    assert arguments == [
        *("-d", "a=2,b=1"),
        *("--flag", "True"),
        *("-k", "v"),
        *("--list", "[1, 'a']"),
        *("--lr", "0.1"),
        *("--none", ""),
    ]


def test_hyperparameters_of_the_platform_are_no_arguments() -> None:
    hyperparameters = {
        "sagemaker_program": "train.py",
        "sagemaker_mpi_enabled": True,
        "_tuning_objective_metric": "loss",
        "epochs": 2,
    }

    assert user_args(hyperparameters) == ["--epochs", "2"]
    assert split_hyperparameters(hyperparameters).framework == {"sagemaker_mpi_enabled": True}


def test_a_text_that_is_not_json_stands_for_itself() -> None:
    assert decode_hyperparameters({"a": "plain text", "b": "0.5", "c": '"0.5"'}) == {
        "a": "plain text",
        "b": 0.5,
        "c": "0.5",
    }


def test_every_value_that_cannot_be_passed_on_is_named_at_once() -> None:
    with pytest.raises(SpecError) as refused:
        encode_hyperparameters(
            {"path": Path("data"), "fine": 1, "nul": ["a\0b"], "half": {"\ud800": 1}}
        )

    path, nul, half = refused.value.problems
    assert path.startswith("Hyperparameter 'path' has the value 'data', which is not JSON")
    assert "Give text, a number" in path
    assert nul.startswith("Hyperparameter 'nul' holds [\"a\\u0000b\"], whose NUL")
    assert half.startswith("Hyperparameter 'half' holds")
    assert half.endswith("Remove that character.")
