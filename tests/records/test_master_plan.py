"""The master plan: its checks, and the plans that it becomes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.engine.prompting import template
from fairlead.model.tally import Answered
from fairlead.model.waves import schedule
from fairlead.records.master_plan import faults_of, read_master_plan, split
from fairlead.records.plan_check import validate
from fairlead.records.plan_sheet import new_plan, nodes_of, read_plan
from tests.support.council import a_master_plan, a_step

IDS = ("R1", "R2")


def faults(text: str, *open_ids: str) -> str:
    return "; ".join(faults_of(read_master_plan(text), IDS, open_ids))


def test_a_plan_is_read_into_its_steps() -> None:
    found = read_master_plan(a_master_plan())
    assert (found.title, found.goal) == ("sign in with a passkey", "Passkeys.")
    assert [(step.id, step.wave) for step in found.steps] == [("1", 1), ("2", 1), ("3", 2)]
    step = found.steps[1]
    assert (step.files, step.verify) == (("app/2.py",), "pytest tests/test_2.py")
    assert (step.action, step.done, step.requirements) == ("write it", "step 2 works", IDS)
    assert len(found.dissent) == 1
    assert faults(a_master_plan()) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (a_master_plan().replace("## Dissent", "## Other"), "the part 'Dissent' is missing"),
        (a_master_plan().replace("| R2 | a", "| x | a"), "requirement R2 is not in the table"),
        (a_master_plan((a_step("1"),)), "no step carries requirement R2"),
        (a_master_plan().replace("- files: app/2.py\n", ""), "step 2 has no files"),
        (a_master_plan().replace("- done: step 2 works\n", ""), "step 2 has no criterion"),
        (a_master_plan().replace("- verify: `pytest tests/test_3.py`\n", ""), "step 3 has no command"),
        (
            a_master_plan((a_step("1"), a_step("2", "./app/1.py"))),
            "steps 1 and 2 of wave 1 both touch app/1.py",
        ),
        (a_master_plan((a_step("1", "app/"), a_step("2", "app/x.py"))), "both touch"),
        (a_master_plan((a_step("1"), a_step("1", "b.py"))), "two steps 1"),
        (a_master_plan((a_step("1", "../other/x.py"),)), "not a file of the project"),
        (a_master_plan((a_step("1", "/etc/passwd"),)), "not a file of the project"),
        (a_master_plan((a_step("1", ".planning/STATE.md"),)), "not a file of the project"),
        (a_master_plan((a_step("1", ".git/config"),)), "not a file of the project"),
        (a_master_plan(goal="x" * 40_000), "tokens"),
        (a_master_plan(goal="fine\u202e"), "invisible"),
        (a_master_plan().replace("#### Step", "Step"), "there are no steps"),
        ("", "there are no steps"),
        ("```\n" + a_master_plan(), "there are no steps"),
    ],
)  # fmt: skip
def test_each_check_fails_by_its_name(text: str, said: str) -> None:
    assert said in faults(text)


def test_the_same_file_in_two_waves_is_fine() -> None:
    text = a_master_plan((a_step("1", requirements="R1, R2"),), (a_step("2", "app/1.py"),))
    assert faults(text) == ""


def test_every_open_item_needs_an_answer() -> None:
    rows = (
        "| security-1 | changed | step 2 masks it |\n| builder-2 | **Declined** | it is meant so |"
    )
    text = a_master_plan(answers=rows)
    assert read_master_plan(text).answers == (
        Answered("security-1", True, "step 2 masks it"),
        Answered("builder-2", False, "it is meant so"),
    )
    assert faults(text, "security-1", "builder-2") == ""
    assert faults(text, "security-1", "skeptic-1") == "skeptic-1 is not answered"


def test_an_answer_is_changed_or_declined_and_says_why() -> None:
    text = a_master_plan(answers="| builder-1 | maybe | who knows |\n| builder-2 | declined | |")
    said = faults(text, "builder-1", "builder-2")
    assert "builder-1 is not answered" in said
    assert "builder-2 is answered without a reason" in said


def test_several_commands_become_one() -> None:
    text = a_master_plan().replace(
        "- verify: `pytest tests/test_1.py`", "- commands: `make`, `make t`"
    )
    assert read_master_plan(text).steps[0].verify == "make && make t"


@pytest.mark.parametrize(
    "command", ["grep -c 'a  |  b' x", "a | b  ||  c", "test \"$(cat x)\" = '  y'", "R1: x", "a\tb"]
)
def test_a_command_is_kept_to_the_byte(command: str) -> None:
    text = a_master_plan().replace("`pytest tests/test_1.py`", f"`{command}`")
    assert read_master_plan(text).steps[0].verify == command


def test_everything_below_a_field_belongs_to_it() -> None:
    step = """\
#### Step 1: a part
- **Files:**
  - `app/1.py` (new)
  - app/b.py
- action: do this:
  - first

    ```python
    if x:
        y
    ```
- verify:
  ```sh
  make
  make test
  ```
- done when: it works
  for everybody
- requirements: R1, R2
"""
    found = read_master_plan(a_master_plan((step,))).steps[0]
    assert found.files == ("app/1.py", "app/b.py")
    assert found.action == "do this:\n- first\n\n  ```python\n  if x:\n      y\n  ```"
    assert (found.verify, found.done) == ("make && make test", "it works for everybody")
    assert faults(a_master_plan((step,))) == ""
    sheet = split(read_master_plan(a_master_plan((step,))), "03", "03-sign-in").sheets[0]
    read = read_plan("03-sign-in/03-01-PLAN.md", new_plan(sheet))
    assert [(task.action, task.verify) for task in read.tasks] == [(found.action, found.verify)]


def test_words_after_the_fields_are_part_of_the_action() -> None:
    text = a_master_plan().replace(
        "- requirements: R1\n\n", "- requirements: R1\n\nTake care of old\n- sessions\n\n", 1
    )
    assert read_master_plan(text).steps[0].action == "write it\n\nTake care of old\n- sessions"


def test_the_form_that_is_asked_for_can_be_read() -> None:
    form = template("council_synthesis_answer").partition("order:")[2]
    found = read_master_plan(form)
    assert faults_of(found, ("R1",)) == ()
    assert [(answer.id, answer.is_changed) for answer in found.answers] == [
        ("security-1", True),
        ("builder-2", False),
    ]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(1, [1]), (2, [2]), (3, [3]), (4, [2, 2]), (5, [3, 2]), (7, [3, 2, 2]), (9, [3, 3, 3])],
)
def test_a_plan_has_two_or_three_tasks_where_it_can(count: int, sizes: list[int]) -> None:
    steps = tuple(a_step(str(at)) for at in range(1, count + 1))
    made = split(read_master_plan(a_master_plan(steps)), "03", "03-sign-in")
    assert [len(sheet.tasks) for sheet in made.sheets] == sizes


def test_each_wave_becomes_one_wave_that_waits_for_the_one_before() -> None:
    steps = tuple(a_step(str(at)) for at in range(1, 5))
    text = a_master_plan(steps, (a_step("5", "app/1.py"),), (a_step("6", "app/1.py"),))
    made = split(read_master_plan(text), "03", "03-sign-in")
    assert [(each.id, each.wave, each.depends_on) for each in made.sheets] == [
        ("03-01", 1, ()),
        ("03-02", 1, ()),
        ("03-03", 2, ("03-01", "03-02")),
        ("03-04", 3, ("03-03",)),
    ]
    assert schedule(nodes_of(made.sheets)).waves == (("03-01", "03-02"), ("03-03",), ("03-04",))
    assert made.places["4"] == "03-02-02"


def test_the_plans_that_are_written_are_fit_to_be_carried_out() -> None:
    made = split(read_master_plan(a_master_plan()), "03", "03-sign-in")
    for sheet in made.sheets:
        read = read_plan(f".planning/phases/03-sign-in/{sheet.id}-PLAN.md", new_plan(sheet))
        assert validate(read) == ()
        assert (read.id, read.wave, read.files) == (sheet.id, sheet.wave, sheet.files)
        assert [task.verify for task in read.tasks] == [task.verify for task in sheet.tasks]


@given(st.text("abc<>/&`'\"-:# \n", max_size=60), st.text("abc</>&` task", max_size=40))
def test_no_words_of_a_step_break_out_of_the_plan(action: str, title: str) -> None:
    step = a_step("1", title=f"T {title}").replace("write it", f"write {' '.join(action.split())}")
    plan = read_master_plan(a_master_plan((step,)))
    made = split(plan, "03", "03-sign-in").sheets[0]
    read = read_plan("03-sign-in/03-01-PLAN.md", new_plan(made))
    assert [task.files for task in read.tasks] == [("app/1.py",)]
    assert [task.verify for task in read.tasks] == ["pytest tests/test_1.py"]


@given(st.text(max_size=500))
def test_reading_never_breaks(text: str) -> None:
    assert faults_of(read_master_plan(text), IDS)
