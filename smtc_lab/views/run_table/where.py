"""A condition on rows as a person writes it: ``loss < 0.3 and cost_usd < 2``."""

from __future__ import annotations

import ast
import datetime as dt
import difflib
import operator
import re
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from smtc_lab.errors import SpecError
from smtc_lab.neutral_text import neutral
from smtc_lab.store.state import State
from smtc_lab.views.live.list_row import DAMAGED
from smtc_lab.views.run_table.facts import METRIC, PARAM
from smtc_lab.views.text.format import state_word

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from smtc_lab.views.run_table.facts import Facts, Value

Truth = bool | None
"""None: not known, as a value is not."""

_LONGEST = 2_000
_DEEPEST = 50
_QUOTED = re.compile(r"`([^`]{1,300})`")
_TIMES = frozenset({"started"})
_STATES: dict[str, str] = {
    word.casefold(): state
    for state in (*get_args(State), DAMAGED)
    for word in (state, state_word(state))
}
"""States by their names and by the words that tables have for them."""

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_HELP = (
    'Write for example: loss < 0.3 and cost_usd < 2, or: state == "Completed" and '
    '"digits" in script. Names with other characters stand in backquotes: `eval/loss` < 1.'
)


def names_for(name: str) -> tuple[str, str, str]:
    """Return where in facts a name is looked for: its own, a metric's, a parameter's."""
    return name, f"{METRIC}{name}", f"{PARAM}{name}"


def known_name(name: str, known: Collection[str]) -> str:
    """Return a name that some rows have.

    Raises:
        SpecError: None has it; names those that are alike.
    """
    if any(one in known for one in names_for(name)):
        return name
    short = sorted({one.removeprefix(METRIC).removeprefix(PARAM) for one in known})
    alike = difflib.get_close_matches(name, short)
    hint = f"Did you mean {', '.join(alike)}?" if alike else f"There are: {', '.join(short)}."
    raise SpecError(f"No run has {neutral(name, longest=80)!r}. {neutral(hint, longest=600)}")


def full_name(name: str, known: Collection[str]) -> str:
    """Return a name as rows have it: ``param.lr`` of ``lr``.

    Raises:
        SpecError: As ``known_name``.
    """
    known_name(name, known)
    return next(one for one in names_for(name) if one in known)


def value_of(facts: Facts, name: str) -> Value:
    """Return what a row has under a name; None: it is not known."""
    return next((facts[one] for one in names_for(name) if facts.get(one) is not None), None)


def condition(text: str, known: Collection[str]) -> Callable[[Facts], bool]:
    """Return what tells whether a condition holds of a row. What is not known does not hold.

    Args:
        text: Comparisons of names with numbers, texts and dates, joined by ``and``, ``or`` and
            ``not``.
        known: Names that rows have.

    Raises:
        SpecError: It cannot be read; says what is wrong.
    """
    quoted: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quoted.append(found.group(1))
        return f"_quoted_{len(quoted) - 1}"

    if len(text) > _LONGEST:
        raise SpecError(f"The condition has {len(text)} characters, over {_LONGEST}.")
    try:
        tree = ast.parse(_QUOTED.sub(keep, text.strip()), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _unreadable(text) from error
    holds = _Reader(text, quoted, known).truth(tree.body)
    return lambda facts: holds(facts) is True


def _unreadable(text: str) -> SpecError:
    return SpecError(f"The condition {neutral(text, longest=200)!r} cannot be read. {_HELP}")


class _Reader:
    """Makes functions of the parts of a condition."""

    def __init__(self, text: str, quoted: list[str], known: Collection[str]) -> None:
        self._text, self._quoted, self._known = text, quoted, known
        self._depth = 0

    def truth(self, node: ast.expr) -> Callable[[Facts], Truth]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _unreadable(self._text)
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                return _all_of(list(map(self.truth, values)), unless=False)
            case ast.BoolOp(op=ast.Or(), values=values):
                return _all_of(list(map(self.truth, values)), unless=True)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                holds = self.truth(operand)
                return lambda facts: None if (it := holds(facts)) is None else not it
            case ast.Compare(left=left, ops=ops, comparators=others):
                return self._compared([left, *others], ops)
        raise _unreadable(self._text)

    def _compared(
        self, parts: list[ast.expr], ops: list[ast.cmpop]
    ) -> Callable[[Facts], Truth]:
        names = {self._name(part) for part in parts}
        meant = _moment_s if names & _TIMES else _state if "state" in names else None
        values = [self._value(part, meant) for part in parts]
        try:
            compare = [_COMPARE[type(op)] for op in ops]
        except KeyError:
            raise _unreadable(self._text) from None
        pairs = list(zip(values, values[1:], compare, strict=False))
        return _all_of([partial(_holds, *pair) for pair in pairs], unless=False)

    def _name(self, node: ast.expr) -> str:
        """Return the name that stands somewhere: ``loss``, ``param.lr``; empty: none does."""
        match node:
            case ast.Name(id=name):
                if name.startswith("_quoted_") and name[8:].isdigit():
                    return self._quoted[int(name[8:])]
                return name
            case ast.Attribute(value=value, attr=attr) if before := self._name(value):
                return f"{before}.{attr}"
        return ""

    def _value(
        self, node: ast.expr, meant: Callable[[str], Any] | None
    ) -> Callable[[Facts], Any]:
        if name := self._name(node):
            known_name(name, self._known)
            return lambda facts: value_of(facts, name)
        try:
            constant = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
            raise _unreadable(self._text) from error
        if meant is not None:
            constant = _each_text(constant, meant)
        return lambda _: constant


def _all_of(parts: list[Callable[[Facts], Truth]], *, unless: bool) -> Callable[[Facts], Truth]:
    """Return ``and`` (unless False) or ``or`` (unless True) of truths that may be unknown."""

    def told(facts: Facts) -> Truth:
        found = [part(facts) for part in parts]
        if unless in found:
            return unless
        return None if None in found else not unless

    return told


def _holds(
    left: Callable[[Facts], Any],
    right: Callable[[Facts], Any],
    compare: Callable[[Any, Any], bool],
    facts: Facts,
) -> Truth:
    one, other = left(facts), right(facts)
    if one is None or other is None:
        return None
    try:
        return bool(compare(one, other))
    except TypeError:  # a text with a number
        return None


def _each_text(constant: Any, meant: Callable[[str], Any]) -> Any:  # noqa: ANN401  any literal
    """Return what a text means, or each text of several; anything else as it is."""
    if isinstance(constant, str):
        return meant(constant)
    is_many = isinstance(constant, tuple | list | set)
    return [_each_text(one, meant) for one in constant] if is_many else constant


def _state(text: str) -> str:
    """Return the state that is meant, in whatever case; a part of a word stays as it is."""
    return _STATES.get(text.casefold(), text)


def _moment_s(text: str) -> float:
    """Return a date, or a date and a time of day, in seconds since the epoch.

    Raises:
        SpecError: It is none.
    """
    try:
        return dt.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise SpecError(
            f"{neutral(text, longest=40)!r} is no date. Write for example "
            'started > "2026-11-01".'
        ) from error
