"""Kernels as plain Python, for coverage: under `NUMBA_DISABLE_JIT=1` conftest calls `use_python` before it imports any.

Users can't have that: the package takes the variable out of the environment. Single instructions of the processor are
replaced by the same in Python.
"""

from __future__ import annotations

import ctypes
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def _word(function: Callable[[int], int]) -> Callable[[np.uint64], np.uint64]:
    return lambda word: np.uint64(function(int(word)))


def _at(address: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(int(address))


def _load(address: int) -> np.int64:
    return np.int64(_at(address).value)


def _store(address: int, number: int) -> None:
    _at(address).value = int(number)


def _fetch_add(address: int, number: int) -> np.int64:
    found = _load(address)
    _store(address, found + number)
    return found


INSTRUCTIONS: dict[str, Callable[..., Any]] = {
    "reverse_bits": _word(lambda word: int(f"{word:064b}"[::-1], 2)),
    "count_bits": _word(int.bit_count),
    "lowest_bit": _word(lambda word: (word & -word).bit_length() - 1 if word else 64),
    "leading_zeros": _word(lambda word: 64 - word.bit_length()),
    "nanoseconds": time.monotonic_ns,
    "coarse_nanoseconds": time.monotonic_ns,
    "cpu_nanoseconds": time.thread_time_ns,
    "load_int64": _load,
    "store_int64": _store,
    "fetch_add_int64": _fetch_add,
    "fence": lambda: None,
}


NOT_SO = frozenset(
    {
        # Too much for plain Python.
        "test_a_batch_from_generator_to_rows",
        "test_a_count_is_the_same_alone_and_in_a_crowd",
        "test_a_limit_and_a_stop_end_a_puzzle_between_two_lines",
        "test_a_question_ends_by_the_clock_of_whoever_asked",
        "test_a_search_deeper_than_its_room_starts_again_with_more",
        "test_a_solver_that_grows_too_large_is_ended",
        "test_all_rows_of_known_runs",
        "test_all_solvers_stand_side_by_side",
        "test_beyond_the_sample_numbers_are_looked_for_in_planes_of_bits",
        "test_contest_lines_are_solved",
        "test_counting_stops_at_the_cap_and_says_that_it_did",
        "test_counts_of_parts_that_share_nothing_are_multiplied",
        "test_counts_of_the_survey_are_the_published_ones",
        "test_degenerate_puzzles_are_ordinary",
        "test_empty_lines_around_a_puzzle_change_neither_verdict_nor_count",
        "test_every_plan_says_the_same_as_brute_force",
        "test_generated_puzzles_have_one_solution",
        "test_hints_do_not_change_what_is_found_but_where_it_is_looked_for",
        "test_keeping_many_solutions_changes_no_figure",
        "test_lines_of_hundreds_of_blocks_are_solved_as_by_the_table",
        "test_more_solutions_than_a_column_holds_are_that_many_at_least",
        "test_one_to_eight_workers_make_the_same_planes_rounds_and_visits",
        "test_permutations_are_counted_exactly_and_all_of_them_shown",
        "test_plans_end_where_they_say",
        "test_random_puzzles_with_blots_are_unique_ambiguous_and_contradictory",
        "test_search_and_sat_count_the_same_solutions",
        "test_sizes_are_those_that_were_published",
        "test_stages_are_named_by_what_decided",
        "test_the_article_and_its_orders",
        "test_the_facts_of_a_row_tell_what_each_stage_settled",
        "test_the_same_set_gives_the_same_counts_in_any_number_of_threads",
        "test_the_solver_stops_when_it_is_told",
        "test_turned_puzzles_have_the_same_verdict",
        "test_what_lines_know_of_a_larger_picture_with_blots_is_true",
        "test_what_lines_leave_open_goes_on_to_probes_search_and_sat",
        "test_while_one_puzzle_is_between_its_rounds_workers_are_at_another",
        "test_with_one_cell_a_move_parity_decides",
        "test_without_the_memory_nothing_is_begun_and_the_need_is_told",
        # About compiled code, or a number made of bytes, which stays a byte in plain Python.
        "test_odd_nin_texts_are_read_alike",
        "test_pack_gives_what_parse_gives_of_spoilt_texts",
        "test_the_log_has_the_lines_of_apsnono",
    }
)
"""Tests that are left out."""


def use_python() -> None:
    """Have every kernel that is imported from now on stay the function that its source says."""
    os.environ.pop("NUMBA_DISABLE_JIT", None)
    from parallel_nono import kernels

    def kernel(function: Callable[..., Any] | None = None, **_: bool) -> Any:
        return function if function is not None else lambda function: function

    kernels.kernel = kernel
    kernels.function_value = lambda call: lambda function: function
    kernels.instruction = kernels.arithmetic = lambda function: function
    from parallel_nono.kernels import bits

    for name, function in INSTRUCTIONS.items():
        assert hasattr(bits, name)
        setattr(bits, name, function)
    np.seterr(over="ignore")  # in plain Python words wrap around with a warning
    warnings.simplefilter("ignore", RuntimeWarning)
