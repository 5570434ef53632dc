"""All verbs at once with readers beside them; and the accounting finds planted losses."""

from pathlib import Path

from tests.crash.conftest import MakeRig
from tests.support.crowd import Updating, beside_a_stopped_holder
from tests.support.figures import record_quick
from tests.support.mixed import (
    KEEPING,
    LAST_LINE,
    PASSING,
    TAKING_BACK,
    Step,
    mixed_crowd,
    plan,
    prepared,
    torn_in,
    unaccounted,
)
from tests.support.programs import fairlead
from tests.support.strace import Injection, paused
from tests.support.subjects import PROJECT, STATE, planted_subject, product_subjects


def test_eight_writers_of_every_verb_lose_nothing_and_no_reader_sees_a_torn_file(
    installed_command: Path, tmp_path: Path
) -> None:
    planned = plan(writers=8, steps=2)
    came = mixed_crowd(prepared(tmp_path), planned, fairlead())
    assert came.findings == ()
    record_quick(
        "mixed",
        "8 writers of every verb beside doctor, sync and a status line: nothing lost or torn",
        {"steps": came.steps, "acknowledged": came.acknowledged, "looks": came.looks, "found": 0},
    )


def test_every_command_under_the_crash_sweeps_takes_part_in_the_crowd() -> None:
    verbs = {" ".join(verb.split()[:2]) for verb in (*KEEPING, *PASSING, *TAKING_BACK)}
    verbs |= {verb.split()[0] for verb in verbs}
    # The Plan Phase and the hosts' settings are other files with tests of their own.
    elsewhere = ("planning", "exec", "install", "uninstall")
    arguments = [subject.arguments for subject in product_subjects().values()]
    swept = [words for words in arguments if words[0] not in elsewhere]
    assert [words for words in swept if not verbs & {" ".join(words[:2]), words[0]}] == []


def test_a_writer_in_place_is_seen_torn_by_the_reader(tmp_path: Path, rig_of: MakeRig) -> None:
    subject = planted_subject("in-place")
    subject.prepare(tmp_path)
    project = tmp_path / PROJECT
    for name in (STATE, ".planning/ROADMAP.md"):
        with (project / name).open("ab") as file:
            file.write(b"# Roadmap\n" + LAST_LINE)
    opened = [call for call in rig_of("planted-in-place").calls if "O_TRUNC" in call.arguments]
    stop = Injection("openat", opened[-1].number, "signal=STOP")
    with paused(subject.command(tmp_path), stop) as writer:
        seen = torn_in(project)
    writer.communicate()
    assert seen == [f"{STATE} was seen torn: 0 bytes"]


def test_an_update_that_a_robbed_lock_loses_is_missed(tmp_path: Path, rig_of: MakeRig) -> None:
    subject = planted_subject("pid-lock")
    subject.prepare(tmp_path)
    staged = next(call for call in rig_of("planted-pid-lock").calls if call.path.endswith(".new"))
    first, second, _ = beside_a_stopped_holder(
        Updating(subject.program, ("add",), STATE), tmp_path / PROJECT, staged
    )
    steps = [
        (Step(("add", tag), tag), came) for tag, came in (("first", first), ("second", second))
    ]
    found = unaccounted(tmp_path / PROJECT, steps)
    assert found == ["1 acknowledged updates are not there: second"]
