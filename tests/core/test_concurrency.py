"""Work threads its caller: in order, one worker another, and no failure is lost."""

import threading

import pytest

from fairlead.core.concurrency import BackgroundWorker, Latch, ThreadGroup


def test_submitting_returns_and_the_next_piece_waits_for_the_last():
    done: list[int] = []
    may_end = threading.Event()
    worker = BackgroundWorker()

    def when_it_may() -> None:
        may_end.wait(10)
        done.append(1)

    worker.submit(when_it_may)
    assert done == []  # we went on
    may_end.set()
    worker.submit(lambda: done.append(2))
    assert done[0] == 1
    worker.join()

    assert done == [1, 2]


def test_concurrent_submissions_are_all_run():
    done: list[int] = []
    worker = BackgroundWorker()

    def ask(at: int) -> None:
        worker.submit(lambda: done.append(at))

    asking = [threading.Thread(target=ask, args=(at,)) for at in range(50)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    worker.join()

    assert sorted(done) == list(range(50))


@pytest.mark.parametrize("where", ["begin", "settle"])
def test_an_exception_is_raised_once_by_the_next_call(where):
    done: list[int] = []
    worker = BackgroundWorker()
    worker.submit(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        worker.submit(lambda: done.append(1)) if where == "begin" else worker.join()
    worker.join()

    assert done == []


@pytest.mark.parametrize("kind", [BackgroundWorker, ThreadGroup])
def test_a_thread_that_cannot_start_is_not_awaited(kind, monkeypatch):
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none_left)
    threads = kind()
    with pytest.raises(RuntimeError, match="new thread"):
        threads.submit(int) if kind is BackgroundWorker else threads.start("it", int)
    monkeypatch.undo()

    if kind is BackgroundWorker:
        threads.join()
    else:
        assert threads.running == ()


def test_urgent_work_goes_first():
    done: list[str] = []
    latch, threads = Latch(), ThreadGroup()
    latch.expect(["first", "second"])

    def follow() -> None:
        latch.wait(30)
        done.append("landed")

    threads.start("landing", follow)
    done.append("first")
    latch.release("first")
    done.append("second")
    latch.release("second")
    threads.wait()

    assert done == ["first", "second", "landed"]


def test_waiting_for_urgent_work_is_limited():
    latch = Latch()
    latch.wait(30)
    latch.expect(["never"])

    latch.wait(0.01)
    latch.release("another")
    latch.release("never")
    latch.wait(30)
