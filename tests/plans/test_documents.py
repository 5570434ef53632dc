"""PLAN.md: the variants of real plans are read, and faults are reported with their line."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.errors import DocumentError
from fairlead.plans.check import require_verify_commands, validate
from fairlead.plans.documents import digest_of, new_plan, nodes_of, read_plan
from fairlead.plans.errors import NoVerifyCommand
from fairlead.plans.model import Artifact, Link, MustHaves, PlanDocument, Severity, TaskKind
from fairlead.plans.task_boxes import with_tasks_done
from fairlead.plans.waves import schedule
from fairlead.project import naming
from fairlead.text.document import Document
from tests.support.corpus import corpus_projects

PATH = ".planning/phases/03-post-feed/03-02-PLAN.md"
GSD = """---
phase: 03-post-feed
plan: 08
type: execute
wave: 2
depends_on: ["03-01"]
files_modified:
  - src/a.ts
  - src/b.ts
files_deleted: [src/old.ts]
autonomous: false
requirements: [FEED-01]
estimate: {tokens: 60000, confidence: medium}
must_haves:
  truths:
    - "User can see messages"
    - {statement: "It is fast", verification: backstop}
  artifacts:
    - path: src/a.ts
      provides: "Message list"
      min_lines: 30
      exports: [ChatList]
      contains: "text"
  key_links:
    - from: src/a.ts
      to: src/b.ts
      via: "fetch in useEffect"
      pattern: "fetch.*api"
---

<objective>
Show the feed.
</objective>

<tasks>

<task tdd="true" type="auto">
  <name>Task 1: Create the endpoint</name>
  <precondition>the database runs</precondition>
  <files>src/a.ts (new), `src/b.ts`
    src/c.ts</files>
  <read_first>src/lib/db.ts</read_first>
  <action>Return &lt;List&gt; &amp; close it.
    ```xml
    <task type="auto"><name>an example</name><action>x</action><verify>no</verify></task>
    ```
  </action>
  <verify>
    <automated>npm test -- feed &amp;&amp; npm run lint</automated>
    <human-check><test>look</test></human-check>
  </verify>
  <acceptance_criteria>
    - src/a.ts contains "httpOnly"
    - it answers
  </acceptance_criteria>
  <done>Messages are shown</done>
</task>

<task gate="blocking" type="checkpoint:decision">
  <decision>Which store?</decision>
  <context>Both work</context>
  <options><option id="a"><name>A</name></option></options>
  <resume-signal>Select: a</resume-signal>
</task>

</tasks>
"""
ULTRAPLAN = """---
phase: "01-foundation"
plan: 2
type: execute
wave: 1
depends_on: []
files_modified: []
autonomous: true
must_haves: {truths: [], artifacts: [], key_links: []}
---
<task type="auto">
<name>Task 1: Create PlannerId</name>
<files>src/a.ts, src/b.ts</files>
<action>Do it</action>
<verify>npm test -- PlannerId</verify>
<done>It is there</done>
</task>
"""


def read(body: str, path: str = PATH, front: str = "") -> PlanDocument:
    head = f"---\n{front}\n---\n" if front else ""
    return read_plan(path, head + body)


def task(inner: str, attributes: str = 'type="auto"') -> str:
    return f"<task {attributes}>\n<name>Task 1: x</name>\n{inner}\n</task>\n"


def faults(plan: PlanDocument) -> list[str]:
    return [f"{each.line}: {each}" for each in validate(plan)]


@pytest.mark.parametrize("block", ["<automated></automated>", "<automated> \n </automated>", ""])
def test_an_empty_verify_element_is_no_command(block: str) -> None:
    task = f"<task><name>Task 1: A</name><verify>{block}</verify></task>"
    plan = read_plan(PATH, f"---\nphase: 01-a\nplan: 1\n---\n<tasks>\n{task}\n</tasks>\n")
    assert (plan.tasks[0].verify, plan.tasks[0].is_automated) == ("", False)
    with pytest.raises(NoVerifyCommand):
        require_verify_commands(plan)


def test_the_frontmatter_of_a_plan_is_read() -> None:
    plan = read_plan(PATH, GSD)

    assert (plan.id, plan.phase, plan.number, plan.wave) == ("03-02", "03-post-feed", 2, 2)
    assert (plan.depends_on, plan.files) == (("03-01",), ("src/a.ts", "src/b.ts"))
    assert plan.deleted == ("src/old.ts",)
    assert (plan.autonomous, plan.requirements, plan.estimate_tokens) == (
        False,
        ("FEED-01",),
        60000,
    )
    assert plan.must_haves == MustHaves(
        ("User can see messages", "It is fast"),
        (Artifact("src/a.ts", "Message list", "text", ("ChatList",), 30),),
        (Link("src/a.ts", "src/b.ts", "fetch in useEffect", "fetch.*api"),),
        backstops=("It is fast",),
    )
    assert plan.objective == "Show the feed."


def test_a_task_is_read_with_its_children_and_fenced_examples_are_ignored() -> None:
    first, _ = read_plan(PATH, GSD).tasks

    assert (first.number, first.name, first.kind) == (1, "Task 1: Create the endpoint", "auto")
    assert first.files == ("src/a.ts", "src/b.ts", "src/c.ts")
    assert first.action.startswith("Return <List> & close it.")
    assert (first.verify, first.is_automated) == ("npm test -- feed && npm run lint", True)
    assert first.criteria == ('src/a.ts contains "httpOnly"', "it answers")
    assert (first.done, first.precondition) == ("Messages are shown", "the database runs")
    assert (first.read_first, first.line) == (("src/lib/db.ts",), 37)
    assert first.source.startswith('<task tdd="true"')
    assert first.source.endswith("</task>")


def test_a_checkpoint_keeps_the_order_of_its_children() -> None:
    checkpoint = read_plan(PATH, GSD).tasks[1]

    assert (checkpoint.kind, checkpoint.name) == (TaskKind.DECISION, "Checkpoint: decision")
    assert checkpoint.gate == "blocking"
    assert [tag for tag, _ in checkpoint.body] == [
        "decision",
        "context",
        "options",
        "resume-signal",
    ]


def test_tasks_are_read_without_the_tasks_element() -> None:
    plan = read_plan(".planning/phases/01-foundation/01-02-PLAN.md", ULTRAPLAN)

    assert [(each.verify, each.files) for each in plan.tasks] == [
        ("npm test -- PlannerId", ("src/a.ts", "src/b.ts"))
    ]
    assert not faults(plan)


@pytest.mark.parametrize("grammar", [GSD, ULTRAPLAN])
def test_a_written_plan_reads_back_as_it_was(grammar: str) -> None:
    plan = read_plan(PATH, grammar)
    again = read_plan(PATH, new_plan(plan))

    def core(plan: PlanDocument) -> PlanDocument:
        tasks = tuple(replace(each, line=0, source="", body=(), digest="") for each in plan.tasks)
        return replace(plan, tasks=tasks, digest="", notes=())

    assert core(again) == core(plan)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        pytest.param("<tasks>\n" + task("") + "</tasks>", 1, id="wrapper"),
        pytest.param("```xml\n" + task("") + "```\n", 0, id="fence"),
        pytest.param(
            "````md\n```xml\n" + task("") + "```\n````\n" + task(""), 1, id="longer fence"
        ),
        pytest.param("```md\n```xml\n" + task("") + "```\n```\n" + task(""), 1, id="nested fence"),
        pytest.param(
            task("<action>\n```sh\nnever closed\n</action>") + task(""), 2, id="open fence"
        ),
        pytest.param("<context>\n```\n```\n```\n</context>\n" + task(""), 1, id="stray fence"),
        pytest.param("<!--\n" + task("") + "-->\n" + task(""), 1, id="comment"),
        pytest.param(
            "<task>\n<name>a</name>\n<task>\n<name>b</name>\n</task>", 2, id="never closed"
        ),
        pytest.param(
            "<task>\n<action>Write\n  <task>\n  </task>\n</action>\n</task>", 1, id="bare example"
        ),
        pytest.param("use `<task>` here\n<tasks>\n<task_id>3</task_id>", 0, id="other tags"),
        pytest.param(task("").replace("\n", "\r\n"), 1, id="crlf"),
    ],
)
def test_only_tasks_count_as_tasks(body: str, count: int) -> None:
    assert len(read(body).tasks) == count


def test_markdown_tasks_are_only_counted() -> None:
    plan = read("## Task 1: a\n\n### Task 2: b\n\n```\n## Task 3\n```\n")

    assert (plan.tasks, plan.task_count) == ((), 2)
    assert any(fault.severity is Severity.ERROR for fault in validate(plan))


def test_the_feature_of_a_tdd_plan_is_one_task() -> None:
    plan = read("<feature>\n<name>Parse</name>\n<implementation>Do</implementation>\n</feature>")

    assert [(each.name, each.action, each.kind) for each in plan.tasks] == [("Parse", "Do", "auto")]


def test_a_child_may_quote_its_own_closing_tag() -> None:
    plan = read(task("<action>write `</action>` there</action>\n<verify>run</verify>"))

    assert (plan.tasks[0].action, plan.tasks[0].verify) == ("write `</action>` there", "run")


def test_a_fence_around_a_verify_command_is_removed() -> None:
    assert read(task("<verify>\n```bash\nmake test\n```\n</verify>")).tasks[0].verify == "make test"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("03-01", "03-01"),
        ("3-1", "03-01"),
        ("03-01-PLAN.md", "03-01"),
        ("03-post-feed/03-01", "03-01"),
        ("01", "03-01"),
        ("1", "03-01"),
        ("plan 01", "03-01"),
        ("Plan 03-01", "03-01"),
        ("03-01 (needs src/a.ts)", "03-01"),
        ("Phase 3 Plan 1", "03-01"),
        ("phase 03, plan 01", "03-01"),
        ("03-post-feed-01", "03-01"),
        ("02-01", "02-01"),
        ("Phase 2", "Phase 2"),
        ("Phase 2 Plan 1", "Phase 2 Plan 1"),
        ("Phase 3 Plan 03-01", "Phase 3 Plan 03-01"),
        ("02-post-feed-01", "02-post-feed-01"),
        ("3.1", "3.1"),  # it may be the inserted phase
        ("plan 01 of phase 2", "plan 01 of phase 2"),
    ],
)
def test_a_reference_is_resolved_in_every_form(wanted: str, found: str) -> None:
    plans = [
        read("", ".planning/phases/03-post-feed/03-01-PLAN.md"),
        read("", PATH, f"depends_on: [{wanted!r}]"),
    ]

    assert nodes_of(plans)[1].depends_on == (found,)


@pytest.mark.parametrize("written", ["[[03-01]]", "{plan: 03-01}", "[{plan: 03-01}]"])
def test_an_invalid_reference_is_a_finding(written: str) -> None:
    [note] = [
        each.what
        for each in read("", PATH, f"depends_on: {written}").notes
        if "contains" in each.what
    ]

    assert note.startswith("depends_on contains ")
    assert "03-01" in note


@pytest.mark.parametrize("written", ["[]", "null", "[03-01]", "03-01", "[{path: 03-01-PLAN.md}]"])
def test_a_valid_or_absent_reference_is_no_finding(written: str) -> None:
    notes = read("", PATH, f"depends_on: {written}").notes

    assert not [each.what for each in notes if "depends_on contains" in each.what]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (task(""), "5: error: task 1 has no action"),
        (task("<action>x</action>"), "5: warning: task 1 has no files, no verify, no done"),
        ("<task>\n<action>x</action>\n</task>", "5: error: task 1 has no name"),
        (task("", 'type="checkpoint:human-verify"'), "5: error: a checkpoint in a plan that says"),
        (task("", 'type="checkpoint:decision"'), "5: error: checkpoint:decision has no decision"),
        (
            task("", 'type="checkpoint:odd"'),
            "5: error: 'checkpoint:odd' is not a kind of checkpoint",
        ),
        (task("", 'type="code"'), "5: warning: type 'code' is read as auto"),
        (
            task("<verify>echo done</verify>"),
            "5: warning: the verify command of task 1 cannot fail",
        ),
        (
            task("<verify>! grep -q 'text' a</verify>"),
            "5: error: verify forbids 'text', must_haves require it",
        ),
        (
            task('<reversibility rating="one-way">x</reversibility>'),
            "5: warning: task 1 is irreversible and no decision comes before it",
        ),
        (task("").replace("Task 1", "Task 7"), "5: warning: 'Task 7: x' is task 1 of its plan"),
        ("nothing", "1: error: the plan cannot be executed: no tasks"),
        ("<task>\n<name>a</name>", "5: warning: the task is never closed"),
    ],
)
def test_a_fault_is_reported_with_its_line(body: str, fault: str) -> None:
    front = "autonomous: true\nmust_haves:\n  artifacts: [{path: a, contains: text}]"
    found = faults(read_plan(PATH, f"---\n{front.replace(chr(10) + '  ', ' {', 1)}}}\n---\n{body}"))

    assert any(each.startswith(fault) for each in found), found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("---\nphase: 3\n", f"{PATH}:1:1"),
        ('---\nphase: 3\ntitle: "a\\.b"\n---\n', f"{PATH}:3:"),
        ("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", f"{PATH}:1:1"),
        ("<task>\n" * 300, f"{PATH}:201:1"),
    ],
)
def test_a_plan_that_cannot_be_read_exactly_is_refused_with_its_line(text: str, place: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read_plan(PATH, text)

    assert str(caught.value).startswith(place)


def test_the_box_of_a_task_is_ticked_and_nothing_else_changes() -> None:
    text = "a\r\n- [ ] Task 1: x\r\n- [ ] **Task 2: y**  \r\n```\n- [ ] Task 2\n```\n"
    ticked = with_tasks_done(Document(text), (2,), "2026-06-01").text

    assert ticked == text.replace("[ ] **Task 2: y**  ", "[x] **Task 2: y** (completed 2026-06-01)")
    assert with_tasks_done(Document(ticked), (2,), "2026-06-02").text == ticked
    assert with_tasks_done(Document(GSD), (1,), "2026-06-01").text == GSD


def test_the_digest_of_a_task_covers_all_tasks_up_to_it_and_no_ticks() -> None:
    def digests(*actions: str) -> list[str]:
        tasks = "\n".join(
            f'<task type="auto"><name>T</name><action>\n{each}\n</action></task>'
            for each in actions
        )
        front = GSD[: GSD.index("---", 3) + 4]
        return [each.digest for each in read_plan(PATH, f"{front}\n{tasks}\n").tasks]

    unticked = digests("one", "- [ ] Task 2: two", "three")
    assert digests("one", "- [x] Task 2: two (completed 2026-06-01) ", "three") == unticked
    other = digests("one", "- [ ] Task 2: too", "three")
    assert [one == two for one, two in zip(unticked, other, strict=True)] == [True, False, False]
    assert len(set(unticked)) == 3


def test_ticking_a_box_does_not_change_the_digest() -> None:
    text = "a\r\n- [ ] Task 1: x\r\n- [ ] **Task 2: y**  \n* [ ] Task 3\n"
    ticked = with_tasks_done(Document(text), (1, 2, 3), "2026-06-01").text

    assert ticked.count("(completed 2026-06-01)") == 3
    assert digest_of(ticked) == digest_of(text)
    assert digest_of(ticked.replace("x (completed", "y (completed")) != digest_of(text)
    assert digest_of(text.replace("Task 3", "Task 4")) != digest_of(text)


@pytest.mark.parametrize(
    "bait",
    [
        "<task " * 150,
        "<task>\n<action>\n" + " <task>\n" * 150,
        "<task>\n" + "<automated>" * 18_000,
        "<task>\n<verify>" + "<automated>" * 18_000 + "</verify></task>",
        "<task>\n" + "<action></action>x" * 11_000,
        "<task>\n" + "<action>" * 25_000,
        "<task>\n<files>" + " " * 200_000 + "</files></task>",
        "<task>\n<verify>" + "! " * 100_000 + "</verify></task>",
        "<task>\n<verify>```\n" + " " * 200_000 + "x</verify></task>",
        "```\n" * 50_000,
        "<task" + " a=''" * 40_000,
    ],
    ids=lambda bait: re.sub(r"\s+", " ", bait[:24]),
)
def test_a_large_hostile_plan_is_read(bait: str) -> None:
    # Less than a second each; an expression that backtracks takes minutes.
    assert all(fault.line > 0 for fault in validate(read(bait)))


def test_every_plan_of_the_corpus_is_read_or_refused_with_its_line(
    record_property: Callable[[str, object], None],
) -> None:
    counts: Counter[str] = Counter()
    for project in corpus_projects():
        for path in sorted(project.rglob("*.md")):
            if not naming.is_plan(path.name):
                continue
            try:
                plan = read_plan(str(path), path.read_bytes().decode())
            except UnicodeDecodeError:
                counts["not UTF-8"] += 1
            except DocumentError as error:
                is_placed = re.match(rf"{re.escape(str(path))}:[0-9]+:[0-9]+: ", str(error))
                counts["refused" if is_placed else "refused without a place"] += 1
            else:
                counts["read"] += 1
                counts["tasks"] += len(plan.tasks)
                schedule(nodes_of([plan]))
    record_property("plans", dict(counts))
    assert counts["refused"] < counts["read"] / 20
    assert "refused without a place" not in counts


@given(
    st.lists(st.sampled_from([*GSD.splitlines(keepends=True), "```\n", "<task>\n", "</task>\n"]))
)
def test_any_mixture_of_lines_is_read_or_refused(lines: list[str]) -> None:
    text = "".join(lines)
    try:
        plan = read_plan(PATH, text)
    except DocumentError:
        return

    validate(plan)
    schedule(nodes_of([replace(plan, depends_on=())]))
    assert with_tasks_done(Document(text), (1,), "2026-06-01").text.count("\n") == text.count("\n")
