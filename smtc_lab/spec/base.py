"""The base of every spec: frozen, strict, and all problems of one refused spec at once."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, ValidationInfo

from smtc_lab.errors import SpecError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Params = ParamSpec("_Params")
_Returned = TypeVar("_Returned")

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80

_REMEDY = {
    "missing": "is missing. Give it a value.",
    "extra_forbidden": "is not a field of this spec. Check its spelling, or drop it.",
    "frozen_instance": "cannot be changed after it was made. Build a new spec instead.",
    "int_type": "must be a whole number, not text, a boolean or a fraction.",
    "int_from_float": "must be a whole number, not text, a boolean or a fraction.",
    "float_type": "must be a number, not text or a boolean.",
    "finite_number": "must be a finite number.",
    "tuple_type": "must be a list.",
    "dict_type": "must be a set of names with values.",
    "string_type": "must be text. Put it in quotes.",
    "string_unicode": "must be Unicode text. Drop the character that is not.",
    "bool_type": "must be true or false.",
    "bool_parsing": "must be true or false.",
    "json_invalid": "is not valid JSON. Write it with TrainingJob.to_json().",
    "json_type": "is not JSON text. Write it with TrainingJob.to_json().",
    "invalid_key": "is not a field of this spec. Names of fields are text.",
}


def init_of_pydantic(init: Callable[_Params, _Returned]) -> Callable[_Params, _Returned]:
    """Mark an ``__init__`` that checks nothing of its own, and return it.

    pydantic calls an unmarked ``__init__`` for every nested model. The problems inside then
    lose their place (``cluster.instance_groups.0``), and a JSON null becomes "not given".
    """
    setattr(init, "__pydantic_base_init__", True)  # noqa: B010  a function type has no such field
    return init


class Strict(BaseModel):
    """A frozen part of a spec that refuses unknown fields and never converts a value.

    Raises:
        SpecError: One line for each problem: what is wrong, the value, what to do.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        validate_default=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    @init_of_pydantic
    def __init__(self, /, **data: Any) -> None:  # noqa: ANN401  pydantic checks the fields
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise spec_error(type(self).__name__, error) from None

    def __setattr__(self, name: str, value: object) -> None:
        try:
            super().__setattr__(name, value)
        except ValidationError as error:
            raise spec_error(type(self).__name__, error) from None

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:  # noqa: ANN401  pydantic's signature
        """Return the spec of a dict, as pydantic does, but with our error.

        Raises:
            SpecError: ``obj`` is not a legal spec.
        """
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            raise spec_error(cls.__name__, error) from None

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:  # noqa: ANN401  pydantic's signature
        """Return the spec of a JSON text, as pydantic does, but with our error.

        Raises:
            SpecError: The text is not JSON, or not a legal spec.
        """
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            raise spec_error(cls.__name__, error) from None

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the spec that was written with ``to_json``.

        Raises:
            SpecError: The text is not JSON, or not a legal spec.
        """
        return cls.model_validate_json(text)

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the spec as JSON text, which ``from_json`` reads back unchanged."""
        return self.model_dump_json(indent=indent)


def text_problem(text: str) -> str | None:
    """Return why a text can be neither a file name nor an argument of a process, or None."""
    if "\0" in text:
        return "holds a NUL"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "is not Unicode text (it holds half of a character)"
    return None


def _text_is_plain(text: str, info: ValidationInfo) -> str:
    if problem := text_problem(text):
        raise ValueError(f"{info.field_name}={_shown(text)} {problem}. Drop that character.")
    return text


PlainText = Annotated[str, AfterValidator(_text_is_plain)]
"""Text that a process can be given: Unicode without NUL."""


def field_of(part: object, name: str) -> object:
    """Return a field of a spec's part that may not have been checked yet, or None.

    For problems that concern several parts, so that they are told together with the problems
    inside one part.
    """
    return part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)


def spec_error(name: str, error: ValidationError) -> SpecError:
    """Return every problem of a pydantic error as one SpecError."""
    details = error.errors(include_url=False)
    return SpecError([sentence for detail in details for sentence in _sentences(name, detail)])


def _sentences(name: str, detail: ErrorDetails) -> list[str]:
    if detail["type"] == "value_error":  # our own validators write the whole sentence
        cause = detail["ctx"]["error"]
        return cause.problems if isinstance(cause, SpecError) else [str(cause)]
    where = _cut(".".join(str(part) for part in (name, *detail["loc"])))
    if detail["type"] == "missing":
        return [f"{where} {_REMEDY['missing']}"]
    remedy = _REMEDY.get(detail["type"])
    if remedy is None:
        message = detail["msg"]
        remedy = f"does not fit: {message[0].lower()}{message[1:]}. Change the value."
    return [f"{where}={_shown(detail['input'])} {remedy}"]


def _shown(value: object) -> str:
    """Return the value as it was given, cut to a length that a terminal can bear."""
    return _cut(_REPR.repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
