"""The crossing-out game: four solvers against each other, against trying everything, and against published values."""

from __future__ import annotations

import csv
import gzip
import json
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parallel_nono.attempt import Limits
from parallel_nono.engine.status_line import new_status_line
from parallel_nono.engine.work import Chunk, Place, Work, attempt
from parallel_nono.kinds import kind
from parallel_nono.kinds.strikeout import search, table, text
from parallel_nono.kinds.strikeout.checker import Certificate, Claim, Proved, faults, first_wrong
from parallel_nono.kinds.strikeout.kernels import PARTS, SAMPLE, grow
from parallel_nono.kinds.strikeout.search import LIST, MULTISET, Refused, Verdict, Watch, bitmask, remembered, runs_of
from parallel_nono.kinds.strikeout.table import FOR_EVER, Table, certificate

games = st.tuples(st.text("OX", max_size=14), st.integers(1, 6))


def moves(strip: str, take: int) -> list[tuple[int, str]]:
    """(first cell, strip afterwards) of every move."""
    return [
        (at, strip[:at] + "X" * take + strip[at + take :])
        for at in range(len(strip) - take + 1)
        if strip[at : at + take] == "O" * take
    ]


@cache
def value(strip: str, take: int) -> int:
    """The Grundy value by the definition, every position by itself."""
    options = {value(left, take) for _, left in moves(strip, take)}
    return next(number for number in range(len(options) + 1) if number not in options)


def plain_values(take: int, n: int) -> list[int]:
    """Grundy values of runs by the recurrence."""
    values: list[int] = []
    for length in range(n):
        options = {values[left] ^ values[length - take - left] for left in range(max(0, length - take + 1))}
        values.append(next(number for number in range(len(options) + 1) if number not in options))
    return values


def values(take: int, n: int) -> list[int]:
    made = Table(take)
    made.grow(n - 1, FOR_EVER)
    return [
        made.values[i] if i < made.n else made.values[made.first + (i - made.first) % made.period] for i in range(n)
    ]


def verdicts(strip: str, take: int) -> dict[str, Verdict]:
    batch = text.read([("s", f"{len(strip)} {take} {strip}\n".encode())])
    found = kind("strikeout", {"solver": "all"}).solve(batch, Limits(), np.zeros(1, np.int64))
    return {trial.solver: trial.verdict for trial in found.solutions[0]}


def rows_of(content: str, seconds: float = 20.0, **options: str) -> list[dict[str, Any]]:
    work = Work(kind("strikeout", options), Limits(seconds))
    done = attempt(work, Chunk([("g.strikeout", content.encode())]), new_status_line(), Place("local", "here", "0"))
    rows = [row for batch in done.rows for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["index"])


# Who wins.


def test_the_example_of_six_cells() -> None:
    assert {left for _, left in moves("OOOOOO", 2)} == {"XXOOOO", "OXXOOO", "OOXXOO", "OOOXXO", "OOOOXX"}
    assert sorted(tuple(length for _, length in runs_of(left) if length > 1) for _, left in moves("OOOOOO", 2)) == [
        *((2, 2), (3,), (3,), (4,), (4,)),
    ]
    found = verdicts("OOOOOO", 2)
    assert found["grundy"][:3] == (1, 3, 2)
    assert found["bitmask"].n_states == 13


@given(games)
def test_four_solvers_agree_with_trying_everything(game: tuple[str, int]) -> None:
    strip, take = game
    right = value(strip, take)
    winning = [at for at, left in moves(strip, take) if not value(left, take)]
    for name, found in verdicts(strip, take).items():
        assert found.winner == (1 if right else 2), name
        assert found.grundy == (right if name == "grundy" else -1), name
        assert found.move == (winning[0] if right else -1), name


@given(games)
def test_without_the_cut_the_winner_is_the_same_and_positions_are_no_fewer(game: tuple[str, int]) -> None:
    strip, take = game
    for container in (LIST, MULTISET):
        with_cut, without = (remembered(container, strip, take, cut, FOR_EVER) for cut in (True, False))
        assert with_cut[:3] == without[:3]
        assert with_cut.n_states <= without.n_states


@given(games)
def test_list_and_multiset_look_at_the_same_positions(game: tuple[str, int]) -> None:
    assert remembered(LIST, *game, True, FOR_EVER) == remembered(MULTISET, *game, True, FOR_EVER)


@given(games)
def test_words_are_all_positions_that_can_come_up(game: tuple[str, int]) -> None:
    strip, take = game
    reached, left = {strip}, [strip]
    while left:
        for _, following in moves(left.pop(), take):
            if following not in reached:
                reached.add(following)
                left.append(following)
    assert bitmask(strip, take, FOR_EVER).n_states == len(reached)


def test_runs_without_a_move_count_for_nothing() -> None:
    for strip, take in (("OOO", 5), ("OXOXO", 2), ("", 3), ("XXX", 1)):
        assert [found[:3] for found in verdicts(strip, take).values()] == [(2, 0, -1), *[(2, -1, -1)] * 3]


@given(st.integers(0, 18))
def test_with_one_cell_a_move_parity_decides(n: int) -> None:
    assert {found.winner for found in verdicts("O" * n, 1).values()} == {1 if n % 2 else 2}


def test_the_counts_of_forty_cells_one_a_move() -> None:
    assert remembered(LIST, "O" * 40, 1, True, FOR_EVER)[:] == (2, -1, -1, 15_405, 0, 0)


@pytest.mark.slow
def test_the_counts_of_forty_cells_one_a_move_without_the_cut_and_with_a_multiset() -> None:
    assert remembered(LIST, "O" * 40, 1, False, FOR_EVER).n_states == 44_582
    assert remembered(MULTISET, "O" * 40, 1, True, FOR_EVER).n_states == 15_405


def test_what_has_too_many_positions_is_refused_before_it_begins() -> None:
    began = monotonic()
    with pytest.raises(Refused, match="at most 4,194,304 positions, found 1,099,511,627,776"):
        bitmask("O" * 40, 1, FOR_EVER)
    with pytest.raises(Refused, match="at most 64 cells"):
        bitmask("O" * 1_000_000, 1, FOR_EVER)
    with pytest.raises(Refused, match="at most 8,192 cells"):
        remembered(LIST, "O" * 1_000_000, 1, True, FOR_EVER)
    assert bitmask("X" * 64, 64, FOR_EVER).winner == 2
    assert bitmask("O" * 64, 64, FOR_EVER)[:3] == (1, -1, 0)
    assert monotonic() - began < 10
    (row,) = rows_of(f"40 1 {'O' * 40}", solver="bitmask")
    assert (row["outcome"], row["stage"], row["solution"]) == ("stalled", "search", "")
    assert row["error"].startswith("bitmask: expected at most 4,194,304 positions")


def test_positions_that_do_not_fit_in_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_REMEMBERED", 2000)
    with pytest.raises(Refused, match="at most 2,000 positions"):
        remembered(LIST, "O" * 40, 1, True, FOR_EVER)


def test_a_search_hears_the_stop_and_the_clock() -> None:
    work = Work(kind("strikeout", {"solver": "sorted"}), Limits(seconds=0.05))
    chunk = Chunk([("s", f"60 1 {'O' * 60}".encode())])
    (rows,) = attempt(work, chunk, new_status_line(), Place("local", "here", "0")).rows
    assert rows.to_pylist()[0]["outcome"] == "timeout"
    stop = np.ones(1, np.int64)
    assert kind("strikeout").solve(text.read([("s", b"3 1 OOO")]), Limits(), stop).aborted


# Values.


@pytest.mark.parametrize("take", [*range(1, 13), 40, 255, 256, 700])
def test_values_are_those_of_the_recurrence(take: int) -> None:
    assert values(take, 600) == plain_values(take, 600)


@pytest.mark.parametrize(
    ("take", "lost"),
    [
        (2, [0, 1, 5, 9, 15, 21, 25, 29, 35, 39]),
        (3, [0, 1, 2, 8, 14, 24, 32, 34]),
        (4, [0, 1, 2, 3, 11, 19, 33]),
        (5, [*range(5), 14, 24]),
        (6, [*range(6), 17, 29]),
        (7, [*range(7), 20, 34]),
        (8, [*range(8), 23, 39]),
        (9, [*range(9), 26]),
        (10, [*range(10), 29]),
    ],
)
def test_lost_runs_up_to_forty_cells(take: int, lost: list[int]) -> None:
    assert [n for n, number in enumerate(values(take, 41)) if not number] == lost


def test_a_table_that_grows_bit_by_bit_is_the_same() -> None:
    slow = Table(3)
    for length in (1, 5, 256, 257, 300, 1000, 2100):
        slow.grow(length, FOR_EVER)
    assert slow.values.tolist() == values(3, 2101)


def planes_of(take: int, n: int, known: int) -> list[int]:
    """Values as the kernel makes them with planes of bits, the first `known` of them by the plain recurrence."""
    numbers = np.array([*plain_values(take, known), *[0] * (n - known)], np.uint16)
    words = n // 64 + 2
    planes, backwards = (table._planes(array, words) for array in (numbers, numbers[::-1].copy()))
    rooms = np.zeros((16, words), np.uint64), np.zeros(1 << 16, np.uint8), np.zeros(64, np.uint64)
    assert grow(take, known, n, numbers, numbers[::-1].copy(), planes, backwards, *rooms) == n
    assert not rooms[1].any()
    return numbers.tolist()


def test_beyond_the_sample_numbers_are_looked_for_in_planes_of_bits() -> None:
    """The kernel with planes against the checker, which knows of none, on runs that have more pairs than the sample."""
    n = 2 * int(SAMPLE) + 3000
    made = Table(7)
    made.grow(n, FOR_EVER)
    assert made.n > 2 * int(SAMPLE) + 7 + int(PARTS)
    seen = np.zeros(1 << 16, np.uint8)
    assert first_wrong(made.values, 7, 0, 3000, seen) == -1
    assert first_wrong(made.values, 7, 2 * int(SAMPLE), n, seen) == -1
    spoilt = made.values.copy()
    spoilt[n - 5] += 1
    assert first_wrong(spoilt, 7, n - 50, n, seen) == n - 5


@given(st.integers(1, 9), st.integers(1, 400), st.data())
def test_planes_agree_with_values(take: int, n: int, data: Any) -> None:
    known = data.draw(st.integers(0, n))
    assert planes_of(take, n, known) == plain_values(take, n)


@pytest.mark.parametrize(("take", "period", "first"), [(1, 2, 0), (2, 34, 53)])
def test_periods_are_found_proved_and_right(take: int, period: int, first: int) -> None:
    made = Table(take)
    made.grow(10**9, FOR_EVER)
    assert (made.period, made.first, made.proved_by) == (period, first, 256)
    plain = plain_values(take, 1200)
    assert all(plain[n] == plain[n + period] for n in range(first, 1200 - period))
    assert first == 0 or plain[first - 1] != plain[first - 1 + period]
    assert values(take, 1200) == plain


@pytest.mark.slow
@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.lists(st.integers(0, 3), max_size=5), st.integers(1, 9))
def test_a_period_is_claimed_just_when_enough_values_show_it(loop: list[int], before: list[int], take: int) -> None:
    made = Table(take)
    n = 256
    numbers = (before + loop * n)[:n]
    made._values, made.n = np.array(numbers, np.uint16), n
    made._find_period()
    proved = [
        (p, f)
        for p in range(1, n)
        for f in range(n)
        if 2 * f + 2 * p + take <= n and numbers[f : n - p] == numbers[f + p :]
    ]
    assert (made.period > 0) == bool(proved)
    if proved:
        assert (made.period, made.first) == min(proved)


def test_too_few_values_prove_no_period() -> None:
    made = Table(254)
    made.grow(255, FOR_EVER)
    assert made.values.tolist() == [0] * 254 + [1] * 2
    assert made.period == 0


def test_rows_tell_of_a_period_only_what_their_own_values_prove() -> None:
    one = rows_of("6 2 OOOOOO")[0]["solution"]
    after_a_long_one = rows_of(f"2000 2 {'O' * 2000}\n6 2 OOOOOO")[1]["solution"]
    assert one == after_a_long_one == '{"winner":1,"grundy":3,"move":3,"period":34,"period_from":53}'


def test_a_strip_of_a_million_cells_is_judged_at_once_where_values_repeat() -> None:
    n = 1_000_000
    strip = "O" * n
    (row,) = rows_of(f"{n} 2\n{strip}\n")
    solution = json.loads(row["solution"])
    assert (row["outcome"], row["width"], row["n_branches"]) == ("solved", n, 256)
    assert solution["grundy"] == plain_values(2, 200)[53 + (n - 53) % 34]
    assert solution["period"] == 34


@pytest.mark.slow
def test_without_a_period_values_up_to_a_hundred_thousand_pass_the_checker() -> None:
    n = 100_000
    (row,) = rows_of(f"{n} 3\n{'O' * n}\n")
    assert row["outcome"] == "solved"
    assert row["n_branches"] == n + 1


def test_many_numbers_k_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_BYTES", 3 * Table(1).n_bytes)
    for take in range(1, 30):
        table.table_of(take).grow(10, FOR_EVER)
    assert len(table._tables) <= 3


# The checker.


def faulty(strip: str, take: int, winner: int, grundy: int, move: int) -> str:
    found = faults([Claim(strip, take, winner, grundy, move)], certificate)
    return found[0][1] if found else ""


@given(games)
def test_the_checker_accepts_the_truth_and_nothing_else(game: tuple[str, int]) -> None:
    strip, take = game
    right = value(strip, take)
    left = dict(moves(strip, take))
    for winner in (0, 1, 2, 3):
        for grundy in (-1, right, right + 1):
            for move in range(-1, len(strip) + 1):
                wins = move in left and not value(left[move], take)
                true = (winner == 1 and wins) if right else (winner == 2 and move == -1)
                assert (faulty(strip, take, winner, grundy, move) == "") == (true and grundy in (-1, right))


def test_what_the_checker_says() -> None:
    assert faulty("OOOOOO", 2, 1, 3, 0) == "expected what is left by the move to cell 1 to be worth 0, found 2"
    assert faulty("OOOOOO", 2, 2, 3, -1) == "expected the strip to be worth 0, found 3"
    assert faulty("OOXOOO", 2, 1, 1, 1) == "expected 2 free cells from cell 2 on, found OX"
    assert faulty("OOOOOO", 2, 1, 2, 2) == "expected Grundy value 3, found 2"


@given(st.integers(1, 9), st.integers(0, 299), st.integers(1, 5))
def test_a_certificate_with_one_wrong_value_is_refused(take: int, place: int, off: int) -> None:
    numbers = np.array(values(take, 300), np.uint16)
    assert Proved(take).wrong(Certificate(numbers, 0, 0), {299}) == ""
    numbers[place] += off
    assert f"for {place} cells" in Proved(take).wrong(Certificate(numbers, 0, 0), {299})


def test_a_period_is_believed_only_with_values_enough() -> None:
    numbers = np.array(values(2, 300), np.uint16)
    proved = Proved(2)
    assert proved.wrong(Certificate(numbers, 53, 34), {10**6}) == ""
    assert "expected values of period" in proved.wrong(Certificate(numbers, 53, 33), {10**6})
    assert "expected values of period" in proved.wrong(Certificate(numbers, 52, 34), {10**6})
    assert "expected enough values" in proved.wrong(Certificate(numbers[:175], 53, 34), {10**6})
    assert proved.wrong(Certificate(numbers[:176], 53, 34), {10**6}) == ""
    assert "expected the values of runs" in proved.wrong(Certificate(numbers, 0, 0), {300})


def test_behind_the_proved_values_those_needed_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parallel_nono.kinds.strikeout.checker.MAX_PROVED", 100)
    monkeypatch.setattr("parallel_nono.kinds.strikeout.checker.SPOTS", 3)
    numbers = np.array(values(3, 300), np.uint16)
    assert Proved(3).wrong(Certificate(numbers, 0, 0), {250}) == ""
    numbers[249] += 1  # neither needed nor among the spots 100, 175, 250
    assert Proved(3).wrong(Certificate(numbers, 0, 0), {250}) == ""
    assert "for 249 cells" in Proved(3).wrong(Certificate(numbers, 0, 0), {249, 250})


# Known values.


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_all_rows_of_known_runs(shared: Path) -> None:
    for row in rows(shared / "truth/strikeout_truth.csv"):
        n, take = int(row["N"]), int(row["K"])
        numbers = values(take, n + 1)
        assert numbers[n] == int(row["grundy"])
        assert row["winner"] == ("1" if numbers[n] else "2")
        assert row["first_player_wins"] == str(int(numbers[n] > 0))
        if row["bitmask_states"]:
            assert search._word_counts("O" * n, take)[-1] == int(row["bitmask_states"])


@pytest.mark.slow
def test_positions_of_all_known_runs_with_the_cut(shared: Path) -> None:
    for row in rows(shared / "truth/strikeout_truth.csv"):
        n, take = int(row["N"]), int(row["K"])
        found = remembered(LIST, "O" * n, take, True, FOR_EVER)
        assert (found.winner, found.n_states) == (int(row["winner"]), int(row["memo_states_pruned"]))


@pytest.mark.slow
def test_positions_of_all_known_runs_without_the_cut(shared: Path) -> None:
    for row in rows(shared / "truth/strikeout_truth.csv"):
        found = remembered(LIST, "O" * int(row["N"]), int(row["K"]), False, FOR_EVER)
        assert (found.winner, found.n_states) == (int(row["winner"]), int(row["memo_states_all"]))


def test_all_known_strips_by_all_solvers(shared: Path) -> None:
    for row in rows(shared / "truth/strikeout_strips_truth.csv"):
        found = verdicts(row["strip"], int(row["K"]))
        assert found["grundy"].grundy == int(row["grundy"])
        assert {verdict.winner for verdict in found.values() if verdict} == {int(row["winner"])}


def test_dawsons_kayles(shared: Path) -> None:
    (row,) = (r for r in rows(shared / "data/octal_games/octal_grundy_oeis.csv") if r["oeis"] == "A002187")
    known = [int(number) for number in row["values"].split()]
    assert values(2, len(known) + 1)[1:] == known
    made = Table(2)
    made.grow(10**6, FOR_EVER)
    assert (made.period, made.first) == (int(row["period"]), int(row["last_exception"]) + 1 + 1)


# Text.


def test_games_are_read_however_they_are_laid_out() -> None:
    content = "# two games\n\n 6 2\nOOOOOO\n5 2 oxoXO\r\n0 3\n+8\t1\nOO oo\n\n# more of it\nXX\nxx\n1 7 O"
    batch = text.read([("dir/g.txt", content.encode())])
    assert batch.column("strip").to_pylist() == ["OOOOOO", "OXOXO", "", "OOOOXXXX", "O"]
    assert batch.column("take").to_pylist() == [2, 2, 3, 1, 7]
    assert batch.column("error").to_pylist() == [""] * 5
    assert batch.column("name").to_pylist() == ["g#1", "g#2", "g#3", "g#4", "g#5"]
    assert batch.column("width").to_pylist() == [6, 5, 0, 8, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("6 2\nOOO", "s:2:4: expected 6 cells, found `3`"),
        ("6 2", "s:1:4: expected 6 cells, found `0`"),
        ("3 2 OO\nOO", "s:2:2: expected the end of a strip of 3 cells, found `OO`"),
        ("6 2\n OOZOOO", "s:2:4: expected `O` for a free cell or `X` for a crossed one, found `Z`"),
        ("6 2\nOOO0OO", "s:2:4: expected `O` for a free cell or `X` for a crossed one, found `0`"),
        ("6 0 OOOOOO", "s:1:3: expected a number of cells K from 1 to 999,999,999, found `0`"),
        ("6 -2 OOOOOO", "s:1:3: expected a number of cells K from 1 to 999,999,999, found `-2`"),
        ("-6 2 OOOOOO", "s:1:1: expected a number of cells N from 0 to 999,999,999, found `-6`"),
        ("9999999999 2", "s:1:1: expected a number of cells N from 0 to 999,999,999, found `9999999999`"),
        ("6.5 2", "s:1:1: expected a number of cells N from 0 to 999,999,999, found `6.5`"),
        (
            "\n  6\nOOOOOO",
            "s:2:3: expected a line `N K` such as `6 2`: the cells of a strip and how many a move crosses",
        ),
        ("OOO\n", "s:1:1: expected a line `N K`"),
        ("6 2 9 OOOOOO", "s:1:5: expected `O` for a free cell"),
        ("\n# nothing\n", "s: expected a line `N K`"),
        ("", "s: expected a line `N K`"),
        ("６ ２\nOOOOOO", "s:1:1: expected a line `N K`"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_column(content: str, message: str) -> None:
    batch = text.read([("s", content.encode())])
    (error,) = batch.column("error").to_pylist()
    assert error.startswith(message)


def test_binary_data_is_a_row_with_an_error() -> None:
    assert (
        text.read([("s", b"\x89PNG\0\0\0\1")])
        .column("error")
        .to_pylist()[0]
        .startswith("s: expected text, found binary")
    )


def test_a_broken_game_costs_no_other() -> None:
    batch = text.read([("s", b"3 1 OOO\n4 1 OOZO\nOO\n7 0\nOO\n2 1 OO\n")])
    assert [bool(error) for error in batch.column("error").to_pylist()] == [False, True, True, False]
    assert batch.column("index").to_pylist() == [1, 2, 3, 4]


@given(st.lists(games, min_size=1, max_size=5), st.data())
def test_what_is_written_is_read(found: list[tuple[str, int]], data: Any) -> None:
    gap = data.draw(st.sampled_from([" ", "\n", "\n\n", "\r\n"]))
    content = "".join(f"{len(strip)} {take}{gap}{strip}\n" for strip, take in found)
    batch = text.read([("s", content.encode())])
    assert list(zip(batch.column("strip").to_pylist(), batch.column("take").to_pylist(), strict=True)) == found


@given(st.binary(max_size=60))
def test_reading_never_fails(data: bytes) -> None:
    batch = text.read([("s", data)])
    assert batch.num_rows
    batch.validate(full=True)


@given(st.text("OX \n#0129-ZOo", max_size=40))
def test_a_text_of_such_letters_is_read_too(content: str) -> None:
    batch = text.read([("s", content.encode())])
    for strip, width, error in zip(*(batch.column(c).to_pylist() for c in ("strip", "width", "error")), strict=True):
        assert error or (len(strip) == width and set(strip) <= {"O", "X"})


def test_a_digest_is_that_of_the_game() -> None:
    first, second, third = text.read([("s", b"3 1 OOO\n3 1 o o\no\n3 2 OOO")]).column("digest").to_pylist()
    assert first == second != third


@given(st.lists(games, min_size=2, max_size=8), st.integers(1, 40))
def test_a_long_text_read_in_pieces_gives_the_same_rows(found: list[tuple[str, int]], about: int) -> None:
    from parallel_nono.files.containers import Source
    from parallel_nono.kinds import texts

    content = "# head\n" + "".join(f"{len(strip)} {take}\n{strip}\n4 1 OZOO\n" for strip, take in found)
    whole = text.read([("s", content.encode())])
    source = Source("s", 1, data=gzip.compress(content.encode()))
    pieces = list(texts.batches(source, lambda *piece: text._chunk(list(text._rows(*piece))), text.HEADER, about))
    assert pa.Table.from_batches(pieces).to_pylist() == whole.to_pylist()


def test_a_generated_game_is_the_same_for_ever_and_can_be_read() -> None:
    make = kind("strikeout").make
    assert make is not None
    options = {"take": "0", "crossed": "25"}
    assert make(20, 12, 1, options) == make(3, 12, 1, options)
    content = "".join(make(1, 40, seed, options) for seed in range(50))
    batch = text.read([("s", content.encode())])
    assert batch.column("error").to_pylist() == [""] * 50
    assert len(set(batch.column("digest").to_pylist())) == 50
    assert 0.15 < "".join(batch.column("strip").to_pylist()).count("X") / 2000 < 0.35
    assert set(batch.column("take").to_pylist()) <= set(range(1, 11))
    assert make(1, 5, 1, {"take": "7", "crossed": "0"}) == "5 7\nOOOOO\n"
    for wrong in ({"take": "x"}, {"take": "-1"}, {"crossed": "101"}):
        with pytest.raises(ValueError, match=r"expected (take|crossed) from 0"):
            make(1, 5, 1, {**options, **wrong})


# What a person sees.


def shown(content: str, seconds: float = 20.0, **options: str) -> list[str]:
    of_kind = kind("strikeout", options)
    assert of_kind.show is not None
    (row,) = rows_of(content, seconds, **options)
    return of_kind.show(text.read([("g.strikeout", content.encode())]), row)


def test_the_move_is_shown_on_the_strip() -> None:
    assert shown("7 3 OOOXOOO") == [
        "g#1 (g.strikeout #1)",
        "OOOXOOO",
        "Player 2 wins: every first move loses. Grundy value 0.",
    ]
    assert shown("7 2\nXOOOOXO")[1:4] == [
        "XOOOOXO",
        "Player 1 wins, for one by crossing cells 3 to 4. Grundy value 2.",
        "XO##OXO",
    ]
    assert shown("1 1 O", solver="sorted")[2] == "Player 1 wins, for one by crossing cell 1."


def test_a_long_strip_is_cut_around_the_move() -> None:
    lines = shown(f"999 300 {'X' * 600}{'O' * 399}")
    assert max(map(len, lines)) <= 100
    assert "##" in lines[3]


def test_all_solvers_stand_side_by_side() -> None:
    lines = shown(f"41 1 {'O' * 21}{'X' * 20}", solver="all")
    assert [line.split()[0] for line in lines[-4:]] == ["grundy", "bitmask", "sorted", "multiset"]
    assert "2,097,152 positions" in lines[-3]
    refused = shown(f"40 1 {'O' * 40}", seconds=0.2, solver="all")
    assert "found 1,099,511,627,776" in refused[-3]


def test_the_watch_looks_at_both() -> None:
    assert not Watch(monotonic() + 60, np.zeros(1, np.int64)).late()
    assert Watch(monotonic() - 1, np.zeros(1, np.int64)).late()
    assert Watch(monotonic() + 60, np.ones(1, np.int64)).late()
