"""The master plan: reading, checks, and the split into plans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.council.master_plan import faults_of, read_master_plan, split_into_plans
from fairlead.council.tally import ItemAnswer
from fairlead.jobs.prompts import template
from fairlead.plans.check import validate
from fairlead.plans.documents import new_plan, nodes_of, read_plan
from fairlead.plans.waves import schedule
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
    ("text", "fault"),
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
def test_each_fault_is_reported(text: str, fault: str) -> None:
    assert fault in faults(text)


def test_two_waves_may_touch_the_same_file() -> None:
    text = a_master_plan((a_step("1", requirements="R1, R2"),), (a_step("2", "app/1.py"),))
    assert faults(text) == ""


def test_every_open_item_needs_an_answer() -> None:
    rows = (
        "| security-1 | changed | step 2 masks it |\n| builder-2 | **Declined** | it is meant so |"
    )
    text = a_master_plan(answers=rows)
    assert read_master_plan(text).answers == (
        ItemAnswer("security-1", True, "step 2 masks it"),
        ItemAnswer("builder-2", False, "it is meant so"),
    )
    assert faults(text, "security-1", "builder-2") == ""
    assert faults(text, "security-1", "skeptic-1") == "skeptic-1 is not answered"


def test_an_answer_needs_a_decision_and_a_reason() -> None:
    text = a_master_plan(answers="| builder-1 | maybe | who knows |\n| builder-2 | declined | |")
    message = faults(text, "builder-1", "builder-2")
    assert "builder-1 is not answered" in message
    assert "builder-2 is answered without a reason" in message


def test_several_verify_commands_are_joined() -> None:
    text = a_master_plan().replace(
        "- verify: `pytest tests/test_1.py`", "- commands: `make`, `make t`"
    )
    assert read_master_plan(text).steps[0].verify == "make && make t"


@pytest.mark.parametrize(
    "command", ["grep -c 'a  |  b' x", "a | b  ||  c", "test \"$(cat x)\" = '  y'", "R1: x", "a\tb"]
)
def test_a_verify_command_is_kept_byte_for_byte(command: str) -> None:
    text = a_master_plan().replace("`pytest tests/test_1.py`", f"`{command}`")
    assert read_master_plan(text).steps[0].verify == command


def test_indented_lines_belong_to_the_field_above() -> None:
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
    document = split_into_plans(read_master_plan(a_master_plan((step,))), "03", "03-sign-in")[0]
    read = read_plan("03-sign-in/03-01-PLAN.md", new_plan(document))
    assert [(task.action, task.verify) for task in read.tasks] == [(found.action, found.verify)]


def test_prose_after_the_fields_belongs_to_the_action() -> None:
    text = a_master_plan().replace(
        "- requirements: R1\n\n", "- requirements: R1\n\nTake care of old\n- sessions\n\n", 1
    )
    assert read_master_plan(text).steps[0].action == "write it\n\nTake care of old\n- sessions"


def test_the_answer_format_of_the_prompt_can_be_read() -> None:
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
    made = split_into_plans(read_master_plan(a_master_plan(steps)), "03", "03-sign-in")
    assert [len(document.tasks) for document in made] == sizes


def test_each_wave_depends_on_the_wave_before() -> None:
    steps = tuple(a_step(str(at)) for at in range(1, 5))
    text = a_master_plan(steps, (a_step("5", "app/1.py"),), (a_step("6", "app/1.py"),))
    made = split_into_plans(read_master_plan(text), "03", "03-sign-in")
    assert [(each.id, each.wave, each.depends_on) for each in made] == [
        ("03-01", 1, ()),
        ("03-02", 1, ()),
        ("03-03", 2, ("03-01", "03-02")),
        ("03-04", 3, ("03-03",)),
    ]
    assert schedule(nodes_of(made)).waves == (("03-01", "03-02"), ("03-03",), ("03-04",))
    assert made[1].tasks[1].files == ("app/4.py",)


def test_the_plans_of_a_split_are_valid() -> None:
    made = split_into_plans(read_master_plan(a_master_plan()), "03", "03-sign-in")
    for document in made:
        read = read_plan(f".planning/phases/03-sign-in/{document.id}-PLAN.md", new_plan(document))
        assert validate(read) == ()
        assert (read.id, read.wave, read.files) == (document.id, document.wave, document.files)
        assert [task.verify for task in read.tasks] == [task.verify for task in document.tasks]


@given(st.text("abc<>/&`'\"-:# \n", max_size=60), st.text("abc</>&` task", max_size=40))
def test_no_text_of_a_step_can_break_the_plan_document(action: str, title: str) -> None:
    step = a_step("1", title=f"T {title}").replace("write it", f"write {' '.join(action.split())}")
    plan = read_master_plan(a_master_plan((step,)))
    made = split_into_plans(plan, "03", "03-sign-in")[0]
    read = read_plan("03-sign-in/03-01-PLAN.md", new_plan(made))
    assert [task.files for task in read.tasks] == [("app/1.py",)]
    assert [task.verify for task in read.tasks] == ["pytest tests/test_1.py"]


@given(st.text(max_size=500))
def test_reading_never_raises(text: str) -> None:
    assert faults_of(read_master_plan(text), IDS)


def test_a_section_of_steps_without_a_step_is_no_crash() -> None:
    assert read_master_plan("# Master plan\n\n## Steps\n\n1. Light the lamp\n").steps == ()
