"""Work beside its caller: in order, one after another, and no failure is lost."""

import threading

import pytest

from fairlead.engine.fanout import Afterwards, Fanout, Precedence


def test_who_asks_goes_on_and_the_next_piece_waits_for_the_last():
    told: list[int] = []
    may_end = threading.Event()
    after = Afterwards()

    def when_it_may() -> None:
        may_end.wait(10)
        told.append(1)

    after.begin(when_it_may)
    assert told == []  # we went on
    may_end.set()
    after.begin(lambda: told.append(2))
    assert told[0] == 1
    after.settle()

    assert told == [1, 2]


def test_many_who_ask_at_once_lose_nothing():
    told: list[int] = []
    after = Afterwards()

    def ask(at: int) -> None:
        after.begin(lambda: told.append(at))

    asking = [threading.Thread(target=ask, args=(at,)) for at in range(50)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    after.settle()

    assert sorted(told) == list(range(50))


@pytest.mark.parametrize("where", ["begin", "settle"])
def test_what_a_piece_raised_is_raised_at_the_next_and_only_once(where):
    told: list[int] = []
    after = Afterwards()
    after.begin(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        after.begin(lambda: told.append(1)) if where == "begin" else after.settle()
    after.settle()

    assert told == []


@pytest.mark.parametrize("kind", [Afterwards, Fanout])
def test_where_no_thread_can_be_started_nobody_waits_for_one(kind, monkeypatch):
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    beside = kind()
    with pytest.raises(RuntimeError, match="new thread"):
        beside.begin(int) if kind is Afterwards else beside.start("it", int)
    monkeypatch.undo()

    if kind is Afterwards:
        beside.settle()
    else:
        assert beside.running == ()


def test_who_is_in_a_hurry_goes_first():
    told: list[str] = []
    hurry, beside = Precedence(), Fanout()
    hurry.announce(["first", "second"])

    def follow() -> None:
        hurry.let_pass(30)
        told.append("landed")

    beside.start("landing", follow)
    told.append("first")
    hurry.passed("first")
    told.append("second")
    hurry.passed("second")
    beside.wait()

    assert told == ["first", "second", "landed"]


def test_nobody_waits_where_nobody_comes_and_for_who_never_comes_not_for_long():
    hurry = Precedence()
    hurry.let_pass(30)
    hurry.announce(["never"])

    hurry.let_pass(0.01)
    hurry.passed("another")
    hurry.passed("never")
    hurry.let_pass(30)
