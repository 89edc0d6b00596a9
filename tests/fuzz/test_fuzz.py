"""The fuzzers over their first seeds: the same cases on every run, half a minute in all.

`make fuzz MINUTES=30` runs other seeds for as long as one likes.
"""

from importlib import import_module

import pytest
from tests.fuzz.__main__ import again

N_SEEDS = {"drop_ins": 240, "frames": 120, "model_files": 360, "network_files": 2000, "command_lines": 120}
N_PARTS = 4
"""Tests that the seeds of a fuzzer are dealt to, so that workers share them."""


@pytest.mark.parametrize("part", range(N_PARTS))
@pytest.mark.parametrize("name", N_SEEDS)
def test_no_case_ends_in_anything_but_an_answer_or_an_error_of_ours(name: str, part: int) -> None:
    case = import_module(f"tests.fuzz.{name}").case
    for seed in range(part, N_SEEDS[name], N_PARTS):
        try:
            case(seed)
        except Exception as error:
            error.add_note(again(name, seed))
            raise
