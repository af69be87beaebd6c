"""Compiler settings of a job, and the learning rate that suits another batch size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, cast

import traitlets

from smtc_lab.errors import SpecError
from smtc_lab.metrics.batch.learning_rate import LearningRate, scaled_learning_rate
from smtc_lab.spec.compiler import TrainingCompilerConfig
from smtc_lab.spec.job import TrainingJob
from smtc_lab.study.comparison.compare_compilers import this_machine
from smtc_lab.views.code.cells import compiler_code
from smtc_lab.views.widgets.traits.environments import EnvironmentsView

if TYPE_CHECKING:
    from pydantic import JsonValue

    from smtc_lab.metrics.batch.learning_rate import Rule

_NUMBERS = ("batch_size", "base_batch_size", "learning_rate")


def _number() -> traitlets.Union:
    """Return a trait for a number that a form holds: legal or not, or None."""
    kinds = [traitlets.Int(), traitlets.Float()]
    return traitlets.Union(kinds, default_value=None, allow_none=True).tag(sync=True)


def _settings(*, read_only: bool = False) -> traitlets.Dict[str, Any]:
    """Return a trait for a dict of JSON, or None."""
    return traitlets.Dict(default_value=None, allow_none=True, read_only=read_only).tag(
        sync=True
    )


class CompilerSettings(EnvironmentsView):
    """A form for compiler settings and for the batch size.

    ::

        settings = lab.CompilerSettings(lab.TrainingCompilerConfig(backend="inductor"))
        job = lab.TrainingJob(..., compiler_config=settings.config,
                              hyperparameters=settings.hyperparameters)

    Args:
        config: The settings at first; None: plain PyTorch.
        **traits: Numbers of the batch size's rule, and traits that every widget has.
    """

    view: ClassVar[str] = "compiler-settings"

    value = _settings()
    """The settings as JSON, as they are typed: while ``problems`` has some, they are not legal.
    None: plain PyTorch. To change them, assign another dict, or ``config``."""

    problems = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    """What is wrong with ``value``, and with numbers and names of the batch size; one sentence
    for each problem."""

    batch_size = _number()
    """Samples of a step over all devices; None: the script's own."""

    base_batch_size = _number()
    """The batch size that ``learning_rate`` suits; None: not known."""

    learning_rate = _number()
    """The learning rate that suits ``base_batch_size``; None: not known."""

    optimizer = traitlets.Unicode("AdamW").tag(sync=True)
    """Class name of the optimizer; chooses the rule where none is given."""

    rule = traitlets.Enum(["linear", "sqrt"], None, allow_none=True).tag(sync=True)
    """How the learning rate follows the batch size; None: as suits the optimizer."""

    job_steps = traitlets.Int(None, allow_none=True).tag(sync=True)
    """Steps of the job, a tenth of which is the longest warm-up; None: not known."""

    batch_size_name = traitlets.Unicode("batch_size").tag(sync=True)
    """Name of the hyperparameter that the script takes the batch size from."""

    learning_rate_name = traitlets.Unicode("learning_rate").tag(sync=True)
    """Name of the hyperparameter that the script takes the learning rate from."""

    suggestion = traitlets.Dict(default_value=None, allow_none=True, read_only=True).tag(
        sync=True
    )
    """A ``LearningRate`` as JSON: what to try at ``batch_size``, and why; None: a number that
    it needs is missing or not above 0."""

    code = traitlets.Unicode(read_only=True).tag(sync=True)
    """The lines of Python that make ``config``."""

    def __init__(
        self,
        config: TrainingCompilerConfig | None = None,
        **traits: Any,  # noqa: ANN401  traitlets checks them
    ) -> None:
        self._config = config
        super().__init__(**({} if config is None else {"value": config.model_dump()}) | traits)
        self._read(None)
        self.on_msg(self._on_message)

    @property
    def config(self) -> TrainingCompilerConfig | None:
        """The last legal settings; None: plain PyTorch."""
        return self._config

    @config.setter
    def config(self, config: TrainingCompilerConfig | None) -> None:
        self.set_trait("value", None if config is None else config.model_dump())

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """Batch size and learning rate under their names, where known and legal."""
        if _batch_problems(self):
            return {}
        values: dict[str, Any] = {}
        if self.batch_size is not None:
            values[self.batch_size_name] = self.batch_size
        if self.suggestion is not None:
            values[self.learning_rate_name] = self.suggestion["learning_rate"]
        return values

    def _on_message(self, _widget: object, content: Any, _buffers: object) -> None:  # noqa: ANN401  what a browser sent
        if isinstance(content, dict):
            self.answer_environments(content)

    @traitlets.observe("value")
    def _read(self, _change: object) -> None:
        self._check(None)
        self.set_trait("code", compiler_code(self._config))

    @traitlets.observe(*_NUMBERS, "batch_size_name", "learning_rate_name")
    def _check(self, _change: object) -> None:
        problems = []
        try:
            self._config = _config(self.value)
        except SpecError as error:
            problems = error.problems
        self.set_trait("problems", problems + _batch_problems(self))

    @traitlets.observe(*_NUMBERS, "optimizer", "rule", "job_steps")
    def _suggest(self, _change: object) -> None:
        suggestion = self._suggested()
        self.set_trait("suggestion", None if suggestion is None else suggestion.model_dump())

    def _suggested(self) -> LearningRate | None:
        numbers = [getattr(self, name) for name in _NUMBERS]
        if None in numbers or _number_problems(self):
            return None
        return scaled_learning_rate(
            self.learning_rate,
            batch_size=self.base_batch_size,
            new_batch_size=self.batch_size,
            optimizer=self.optimizer,
            rule=cast("Rule | None", self.rule),
            job_steps=self.job_steps,
        )


def _batch_problems(settings: CompilerSettings) -> list[str]:
    names = (settings.batch_size_name, settings.learning_rate_name)
    return _number_problems(settings) + _name_problems(*names)


def _number_problems(settings: CompilerSettings) -> list[str]:
    problems = []
    for name in _NUMBERS:
        value = getattr(settings, name)
        if value is None:
            continue
        if not (math.isfinite(value) and value > 0):
            problems.append(f"{name}={value} is not above 0. Give a number above 0.")
        elif name != "learning_rate" and int(value) != value:
            problems.append(f"{name}={value} is not a whole number. Drop its decimals.")
    return problems


def _config(value: object) -> TrainingCompilerConfig | None:
    return None if value is None else TrainingCompilerConfig.model_validate(value)


def _name_problems(batch_size_name: str, learning_rate_name: str) -> list[str]:
    """Return what is wrong with names of hyperparameters, in the spec's own words."""
    if batch_size_name == learning_rate_name:
        problem = (
            "Batch size and learning rate are both the hyperparameter "
            f"{batch_size_name[:80]!r}. Rename one of them."
        )
        return [problem]
    names: dict[str, JsonValue] = {batch_size_name: 0, learning_rate_name: 0}
    try:
        TrainingJob(entry_point="train.py", cluster=this_machine(), hyperparameters=names)
    except SpecError as error:
        return error.problems
    return []
