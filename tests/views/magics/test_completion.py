"""Completion of ``%%smtc`` and ``%smtc``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.completer import provisionalcompleter
from jupyter_client.manager import run_kernel

from smtc_lab.views.cell.commands import COMMANDS
from smtc_lab.views.cell.completion import completions
from smtc_lab.views.cell.words import words_until

if TYPE_CHECKING:
    from pathlib import Path

    from IPython.core.interactiveshell import InteractiveShell

    from tests.kit.run_folders import WriteRun

AS_A_TERMINAL_DOES = pytest.mark.filterwarnings("ignore:.Completer.complete. is pending")
"""It asks the older interface, about which IPython warns."""


def completed(text: str) -> list[str]:
    return completions(text, tuple(COMMANDS))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%%smtc --cl", ["--cluster"]),
        ("%%smtc --into x --in", []),
        ("%%smtc --cluster a=local:1 --cl", ["--cluster"]),
        ("%%smtc --compiler ", ["eager", "auto", "inductor", "xla"]),
        ("%%smtc --compiler eager,in", ["inductor"]),
        ("%%smtc --compiler=in", ["inductor"]),
        ("%%smtc --compiler eager,e", []),
        ("%%smtc --precision b", ["bf16"]),
        ("%%smtc --fallback ", ["error", "eager"]),
        ('%%smtc --cluster "d', ["dnn_group=", "data_group="]),
        ("%%smtc --cluster d", ["dnn_group=", "data_group="]),
        ('%%smtc --cluster "fed@dn', ["dnn_group="]),
        ("%%smtc --cluster dnn_group=ml.p3.2xlarge:1,d", ["data_group="]),
        (
            '%%smtc --cluster "dnn_group=ml.p3.2xlarge:1,data_group=ml.c5.9',
            ["ml.c5.9xlarge"],
        ),
        ("%%smtc --cluster dnn_group=lo", ["local"]),
        ("%%smtc --cluster a=ml.c5.9xlarge:1:", ["train", "data", "script"]),
        ("%%smtc --cluster a=ml.c5.9xlarge:1:data:", ["script"]),
        ("%%smtc --cluster a=ml.c5.9xlarge:", []),
        ("%%smtc --steps ", []),
        ("%smtc ", ["run", "runs", "show", "stop", "delete", "--help"]),
        ("%smtc r", ["run", "runs"]),
        ("mine = %smtc sh", ["show"]),
        ("%smtc run train.py --comp", ["--compiler"]),
        ("%smtc runs -", ["-n", "--help"]),
        ("%smtc stop nothing ", []),
        ("%smtc delete --", ["--yes", "--help"]),
        ("%%smtcx --cl", []),
        ("print('%smtc ", []),
    ],
)
def test_what_may_come_next_is_offered(text: str, found: list[str]) -> None:
    assert completed(text) == found


def test_every_instance_type_is_offered_behind_a_group() -> None:
    assert len(completed("%%smtc --cluster dnn_group=ml.")) == 145


def test_runs_are_offered_newest_first(home: Path, ended_run: WriteRun) -> None:
    for name in ("digits-1", "digits-2"):
        ended_run(name, root=home / "runs")

    assert completed("%smtc show ") == ["digits-2", "digits-1"]
    assert completed("%smtc stop digits-1") == ["digits-1"]
    assert completed("%smtc show digits-1 ") == []
    assert completed("%smtc delete digits-1 ") == ["digits-2"]


def test_scripts_and_folders_are_offered(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "deep.py").touch()

    assert completed("%smtc run ") == ["src/", "train.py"]
    assert completed("%smtc run src/") == ["src/deep.py"]
    assert completed("%smtc run no/such/") == []


@given(st.text(alphabet="a \"'\\=,:@-%"))
def test_whatever_is_typed_has_a_last_word(text: str) -> None:
    assert words_until(text)
    assert isinstance(completed(f"%%smtc {text}"), list)


@AS_A_TERMINAL_DOES
@pytest.mark.parametrize("use_jedi", [True, False])
@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("%%smtc --cl", ["--cluster"]),
        ('%%smtc --cluster "dnn_group=ml.p3.2', ["ml.p3.2xlarge"]),
        ("%smtc run --comp", ["--compiler"]),
        ("%smtc st", ["stop"]),
    ],
)
def test_a_shell_offers_the_same_with_and_without_jedi(
    shell: InteractiveShell,
    cell: str,
    found: list[str],
    use_jedi: bool,  # noqa: FBT001  pytest passes it
) -> None:
    shell.Completer.use_jedi = use_jedi
    typed = cell.rsplit("=", 1)[-1].rsplit(" ", 1)[-1]

    assert shell.complete("", cell, len(cell)) == (typed, found)
    with provisionalcompleter():
        offered = list(shell.Completer.completions(cell + "\nprint(1)\n", len(cell)))
    assert [one.text for one in offered] == found
    assert {(one.start, one.end) for one in offered} == {(len(cell) - len(typed), len(cell))}


def test_loading_the_extension_again_does_not_offer_twice(shell: InteractiveShell) -> None:
    shell.run_line_magic("reload_ext", "smtc_lab")

    ours = [
        matcher
        for matcher in shell.Completer.custom_matchers
        if matcher.matcher_identifier == "smtc_lab"
    ]
    assert len(ours) == 1


@AS_A_TERMINAL_DOES
def test_other_lines_are_completed_as_ever(shell: InteractiveShell) -> None:
    shell.user_ns["my_variable"] = 1
    shell.Completer.use_jedi = False  # the older interface leaves out what jedi finds

    assert shell.complete("", "my_var", 6) == ("my_var", ["my_variable"])


@pytest.mark.filterwarnings("default")  # jupyter_client's own
def test_a_kernel_offers_it_to_its_front_end() -> None:
    code = "%%smtc --compiler eager,in\nprint(1)\n"
    with run_kernel(kernel_name="python3") as client:
        client.execute_interactive("%load_ext smtc_lab", timeout=60)
        reply = client.complete(code, code.index("\n"), reply=True, timeout=60)

    content = reply["content"]
    assert content["matches"] == ["inductor"]
    assert code[content["cursor_start"] : content["cursor_end"]] == "in"
