"""A study at one moment, small enough to be kept in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtc_lab.errors import SmtcLabError
from smtc_lab.follow.stream import Stream
from smtc_lab.neutral_text import neutral_json
from smtc_lab.study.folder import COMPARISON
from smtc_lab.views.study.describer import StudyDescriber
from smtc_lab.views.study.tables import followed_tables

if TYPE_CHECKING:
    from smtc_lab.metrics.compared.comparison import Comparison
    from smtc_lab.study.study_run import StudyRun
    from smtc_lab.views.run.snapshot import Curve
    from smtc_lab.views.study.info import ComparisonInfo
    from smtc_lab.views.study.own import StudyOwn

COMPARISON_MIME = "application/vnd.smtc-lab.comparison+json"
"""Our own type: what ``StudySnapshot.as_dict`` returns."""

VERSION = 2
"""Version of that JSON. The first one had no tables, and could be without ``info``."""

_LOOKS = 3  # the first takes all in, the second sees the end


@dataclass(frozen=True, kw_only=True)
class StudySnapshot:
    """What was known of a study."""

    kind: str = COMPARISON
    """What kind of study it is."""

    info: ComparisonInfo
    """Where it stood."""

    comparison: Comparison | None
    """The comparison of the rounds that were complete; None: there was none."""

    tables: dict[str, Curve] = field(default_factory=dict)
    """The rows of its charts, by the names that they have while it is watched."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        comparison = self.comparison
        return {
            "version": VERSION,
            # a comparison is told by what it holds, also to earlier versions
            **({} if self.kind == COMPARISON else {"kind": self.kind}),
            "info": self.info.to_json(),
            "comparison": comparison and neutral_json(comparison.model_dump(mode="json")),
            "tables": {name: curve.as_dict() for name, curve in self.tables.items()},
        }


def study_snapshot(kind: StudyOwn, run: StudyRun) -> StudySnapshot:
    """Return where a study stands now, its numbers so far, and the rows of its charts.

    A launch that cannot be read is told in the description's notes.

    Raises:
        StoreError: The study's own folder cannot be read.
    """
    stream = Stream(lambda *_: None)
    follower = kind.follower(run, stream)
    describer = StudyDescriber(kind, follower)
    try:
        for _ in range(_LOOKS):
            follower.look()
        info = describer.describe()
    except SmtcLabError as error:
        info = describer.describe_problem(str(error))
    stream.close()
    return StudySnapshot(
        kind=kind.name,
        info=info,
        comparison=follower.comparison,
        tables=followed_tables(follower),
    )
