from __future__ import annotations

import torch

from smtc_lab.compiler import places
from smtc_lab.compiler.places import is_script, place, script_place

TORCH = torch.nn.functional.__file__
OWN = places.__file__


def test_a_line_carries_no_folder_of_this_machine() -> None:
    found = place(__file__, 1)

    assert found is not None
    assert found.file == "test_places.py"
    assert found.code == "from __future__ import annotations"


def test_a_line_of_a_library_is_named_by_its_package() -> None:
    found = place(TORCH, 1)

    assert found is not None
    assert found.file == "torch/nn/functional.py"


def test_the_scripts_line_is_preferred_to_what_it_called() -> None:
    found = script_place([("/home/me/train.py", 7), ("/home/me/model.py", 9), (TORCH, 3)])

    assert found is not None
    assert (found.file, found.line) == ("model.py", 9)


def test_without_a_script_a_library_that_is_not_torch_is_named() -> None:
    library = TORCH.replace("torch/nn/functional.py", "transformers/models/gpt2.py")

    found = script_place([(TORCH, 1), (library, 2), (TORCH, 3)])

    assert found is not None
    assert (found.file, found.line) == ("transformers/models/gpt2.py", 2)


def test_our_own_lines_are_no_script_but_examples_are() -> None:
    assert not is_script(OWN)
    assert is_script(OWN.replace("compiler/places.py", "examples/plain_loop.py"))


def test_code_without_a_file_has_no_place() -> None:
    assert place("<string>", 1) is None
    assert script_place([("<eval_with_key>.1", 3)]) is None
    assert script_place([]) is None
