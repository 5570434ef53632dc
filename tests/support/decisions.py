"""Random jobs that change from snapshot to snapshot, and the plain definition of a decision."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from fairlead.agents.budget import Caps, Cost
from fairlead.execution.decide import _View, halts_wave
from fairlead.execution.model import Act, Action, PlanFacts, Snapshot, TaskFacts
from fairlead.execution.plan_index import ReadinessIndex
from fairlead.jobs.model import (
    Job,
    JobStatus,
    Question,
    QuestionKind,
    Run,
    Share,
    TaskGate,
)
from fairlead.plans.model import TaskKind
from fairlead.plans.waves import ConcurrencyLimits, PlanNode, may_start, schedule
from fairlead.project.state.gate_rules import Gate, GateEvent, advance

_BUSY, _LANDING = (Act.EXECUTE, Act.REVIEW, Act.VERIFY), (Act.MERGE, Act.SUMMARISE)
_TIMES = [f"2026-06-01T12:{minute:02d}:00.000Z" for minute in range(60)]
_EVENTS = (
    (GateEvent.START,),
    (GateEvent.START, GateEvent.EXECUTOR_BLOCKED),
    (GateEvent.START, GateEvent.EXECUTOR_SUCCESS),
    (GateEvent.START, GateEvent.EXECUTOR_SUCCESS, GateEvent.VERIFY_FAILED),
    (GateEvent.START, GateEvent.EXECUTOR_SUCCESS, GateEvent.VERIFY_PASSED),
    (
        GateEvent.START,
        GateEvent.EXECUTOR_SUCCESS,
        GateEvent.VERIFY_PASSED,
        GateEvent.APPROVED,
    ),
)
_KINDS = (TaskKind.AUTO,) * 7 + (TaskKind.HUMAN_VERIFY, TaskKind.DECISION, TaskKind.HUMAN_ACTION)
_CAPS = (Caps(0, 0, 0, 0), Caps(0, 0, 0, 0), Caps(run_tokens=60), Caps(run_usd=0.08))


def plain_decision(snapshot: Snapshot) -> tuple[Action, ...]:
    """A decision as it is defined: every plan is looked at, in the order of its urgency."""
    job = snapshot.job
    if snapshot.is_stopping or job.status is not JobStatus.EXECUTING:
        return ()
    index = ReadinessIndex()
    index.update(snapshot)
    view = _View(snapshot, index)
    order = schedule(
        [
            PlanNode(each.id, each.depends_on, each.files, len(each.tasks) or 1, each.is_summarised)
            for each in snapshot.plans
        ]
    )
    plans = {plan.id: plan for plan in snapshot.plans}
    has_gate = {gate.plan for gate in snapshot.gates}
    left = [plan for plan in snapshot.plans if not plan.is_summarised]
    begun = [plan for plan in left if plan.id in has_gate]
    begun.sort(key=lambda plan: -order.priority[plan.id])
    steps = [step for plan in begun if (step := view.step(plan))]
    escalated = [each for each in snapshot.questions if each.kind is QuestionKind.ESCALATION]
    is_halted = halts_wave(sum(not each.answer for each in escalated))
    is_halted |= any(each.answer == "abort" for each in snapshot.questions)
    if sum(step.act in _LANDING for step in steps) <= job.slots and not is_halted:
        limits = ConcurrencyLimits(len(plans))
        names = may_start(order, {plan.id for plan in begun}, (), limits)
        chosen = [plans[name] for name in names if plans[name].is_chosen]
        steps += [step for plan in chosen if (step := view.first_step(plan))]
    actions = [step for step in steps if step.act is Act.ASK]
    actions += _within_limits(snapshot, steps, view)
    if actions or snapshot.running:
        return tuple(actions)
    waits = sorted(step.until for step in steps if step.act is Act.WAIT)
    return (Action(Act.WAIT, job.id, until=waits[0]),) if waits else (view.end(),)


def _within_limits(snapshot: Snapshot, steps: list[Action], view: _View) -> list[Action]:
    job = snapshot.job
    running = [Act(key.partition(":")[0]) for key in snapshot.running]
    slots = job.slots - sum(act in _BUSY for act in running)
    landings = 0 if any(act in _LANDING for act in running) else 1
    callers = {Act.EXECUTE: job.agent, Act.REVIEW: job.reviewer}
    called = [callers.get(act, "") for act in running]
    free = {each.provider: each.slots - called.count(each.provider) for each in job.shares}
    reserved = sum(map(view.price, snapshot.running), Cost())
    chosen: list[Action] = []
    for step in steps:
        if not job.is_git and (chosen or snapshot.running):
            break
        if step.key in snapshot.running:
            continue
        caller = callers.get(step.act, "")
        if step.act in _BUSY and min(slots, free.get(caller, slots)) > 0:
            if step.act is not Act.VERIFY and not view.is_affordable(step, reserved):
                continue
            reserved += view.price(step.key)
            slots -= 1
            free[caller] = free.get(caller, slots + 1) - 1
            chosen.append(step)
        elif step.act in _LANDING and landings > 0:
            landings -= 1
            chosen.append(step)
        elif step.act is Act.SKIP:
            chosen.append(step)
    return chosen


def random_job(random: Random) -> Iterator[Snapshot]:
    """Snapshots of one job: its actions are performed, and anything else may change as well."""
    snapshot = _first(random)
    while True:
        yield snapshot
        for _ in range(random.randint(1, 3)):
            snapshot = random.choice(_CHANGES)(snapshot, random)


def _first(random: Random) -> Snapshot:
    count = random.randint(1, 9)
    plans = tuple(_plan(at, random) for at in range(1, count + 1))
    job = Job(
        id="execute-01",
        phase="01",
        status=JobStatus.EXECUTING,
        started_at=_TIMES[0],
        agent="a",
        reviewer=random.choice(("a", "b")),
        target="main",
        slots=random.randint(1, 4),
        is_git=random.random() < 0.9,
        shares=random.choice(((), (), (Share("a", 1),), (Share("b", 1), Share("a", 2)))),
    )
    caps = random.choice(_CAPS)
    return Snapshot(job, plans, (), (), (), _TIMES[0], Cost(), Cost(), caps)


def _plan(at: int, random: Random) -> PlanFacts:
    name = f"01-{at:02d}"
    tasks = tuple(
        TaskFacts(
            f"{name}-{number:02d}", number, f"Task {number}", random.choice(_KINDS), digest="d"
        )
        for number in range(1, random.choice((1, 1, 1, 2, 3)) + 1)
    )
    needs = {f"01-{random.randrange(1, at):02d}" for _ in range(random.randint(0, 2)) if at > 1}
    files = tuple({random.choice((f"f{at}", "src/a", "src/", "b*")) for _ in range(2)} | {f"g{at}"})
    cost = Cost(random.choice((10, 10, 30)), random.choice((0.01, 0.01, 0.05)))
    is_own = random.random() < 0.4
    return PlanFacts(
        id=name,
        depends_on=tuple(sorted(needs)),
        files=(f"g{at}",) if is_own else files,
        tasks=tasks if random.random() < 0.95 else (),
        estimate=cost,
        is_approved=random.random() < 0.95,
        is_merged=False,
        is_summarised=random.random() < 0.1,
        is_chosen=random.random() < 0.95,
    )


def _perform(snapshot: Snapshot, random: Random) -> Snapshot:
    """Do one of the actions that were decided, or begin it."""
    actions = plain_decision(snapshot)
    if not actions:
        return snapshot
    action = random.choice(actions)
    if action.act is Act.FINISH:
        return _reopened(snapshot, random)
    if action.question:
        asked = replace(action.question, asked_at=snapshot.now)
        return replace(snapshot, questions=(*snapshot.questions, asked))
    if random.random() < 0.5 and action.act in (*_BUSY, *_LANDING):
        return replace(snapshot, running=(*snapshot.running, action.key))
    return _ended(snapshot, action.key, random)


def _reopened(snapshot: Snapshot, random: Random) -> Snapshot:
    """Answer everything that an ended job waits for, and begin a plan again."""
    kept = [each for each in snapshot.questions if each.answer != "abort"]
    kept = [each if each.answer else replace(each, answer="accept") for each in kept]
    name = random.choice(snapshot.plans).id
    gates = tuple(each for each in snapshot.gates if each.plan != name)
    again = replace(snapshot, questions=tuple(kept), gates=gates)
    return _with_plan(again, name, is_summarised=False, is_merged=False, is_chosen=True)


def _end(snapshot: Snapshot, random: Random) -> Snapshot:
    """End one of the running actions."""
    if not snapshot.running:
        return snapshot
    key = random.choice(snapshot.running)
    left = tuple(each for each in snapshot.running if each != key)
    return _ended(replace(snapshot, running=left), key, random)


def _ended(snapshot: Snapshot, key: str, random: Random) -> Snapshot:
    act, _, subject = key.partition(":")
    at = {Act.EXECUTE: (0, 1, 2, 2, 2), Act.VERIFY: (3, 4, 4, 4), Act.REVIEW: (4, 5, 5, 5)}
    if act in at:
        return _with_gate(snapshot, subject, _EVENTS[random.choice(at[Act(act)])], random)
    change = {"is_merged": True} if act == Act.MERGE else {"is_summarised": True, "is_merged": True}
    return _with_plan(snapshot, subject, **change)


def _with_plan(snapshot: Snapshot, name: str, **change: bool) -> Snapshot:
    plans = tuple(
        replace(each, **change) if each.id == name else each  # type: ignore[arg-type]
        for each in snapshot.plans
    )
    return replace(snapshot, plans=plans)


def _with_gate(
    snapshot: Snapshot, task: str, events: tuple[GateEvent, ...], random: Random
) -> Snapshot:
    plan = task.rpartition("-")[0]
    if task not in {each.id for every in snapshot.plans for each in every.tasks}:
        return snapshot
    gate = Gate()
    for _ in range(random.choice((1, 1, 1, 4))):
        gate = Gate(failures=gate.failures)
        for event in events:
            gate = advance(gate, event, task=task)
    number, is_refused = int(task.rpartition("-")[2]), random.random() < 0.1
    run = Run(1, 1, "base", "branch", "s", snapshot.now, random.choice(("", "ok")), "c")
    others = [each.id for every in snapshot.plans for each in every.tasks]
    made = TaskGate(
        task,
        plan,
        number,
        "it",
        gate,
        (run,),
        not_before=random.choice(_TIMES[:20]) if is_refused or random.random() < 0.2 else "",
        waits=random.choice((1, 2, 7)) if is_refused else 0,
        waits_for=(random.choice(others),) if random.random() < 0.3 else (),
        digest=random.choice(("d", "d", "d", "d", "old")),
    )
    kept = [each for each in snapshot.gates if each.task != task]
    gates = sorted([*kept, made], key=lambda each: each.task)
    return replace(snapshot, gates=tuple(gates))


def _answer(snapshot: Snapshot, random: Random) -> Snapshot:
    """Answer a question, ask another, or forget one."""
    questions = list(snapshot.questions)
    if not questions or random.random() < 0.1:
        plan = random.choice(snapshot.plans).id
        kind = random.choice((QuestionKind.TOUCHED, QuestionKind.CLASH, QuestionKind.ESCALATION))
        subject = plan if kind is QuestionKind.CLASH else f"{plan}-01.1"
        asked = Question(f"{kind}-{subject}", kind, subject, "?", asked_at=snapshot.now)
        questions = [each for each in questions if each.id != asked.id] + [asked]
    elif random.random() < 0.1:
        questions.remove(random.choice(questions))
    else:
        at = random.randrange(len(questions))
        words = (*questions[at].options, "approved", "accept", "retry", "skip", "fix: it")
        answer = random.choice(words)
        if answer == "abort" and random.random() < 0.9:
            answer = "accept"
        questions[at] = replace(questions[at], answer=answer)
    return replace(snapshot, questions=tuple(questions))


def _flag(snapshot: Snapshot, random: Random) -> Snapshot:
    """Change what is known of a plan, as a person can at any time."""
    plan = random.choice(snapshot.plans)
    flag = random.choice(("is_approved", "is_merged", "is_summarised", "is_sound", "is_chosen"))
    return _with_plan(snapshot, plan.id, **{flag: not getattr(plan, flag)})


def _gate(snapshot: Snapshot, random: Random) -> Snapshot:
    """Change or delete any gate."""
    if snapshot.gates and random.random() < 0.3:
        gone = random.choice(snapshot.gates)
        return replace(snapshot, gates=tuple(each for each in snapshot.gates if each is not gone))
    plan = random.choice(snapshot.plans)
    if not plan.tasks:
        return snapshot
    return _with_gate(snapshot, random.choice(plan.tasks).id, random.choice(_EVENTS), random)


def _time(snapshot: Snapshot, random: Random) -> Snapshot:
    spent = Cost(random.choice((0, 5, 25, 45)), random.choice((0.0, 0.02, 0.06)))
    return replace(snapshot, now=random.choice(_TIMES), spent=spent)


def _settings(snapshot: Snapshot, random: Random) -> Snapshot:
    job = replace(snapshot.job, slots=random.randint(1, 4), agent=random.choice(("a", "b")))
    return replace(snapshot, job=job, caps=random.choice(_CAPS))


def _text(snapshot: Snapshot, random: Random) -> Snapshot:
    """Another plan, or a plan with another text."""
    at = random.randrange(len(snapshot.plans))
    plans = list(snapshot.plans)
    plans[at] = replace(plans[at], files=(*plans[at].files, random.choice(("src/a", "new"))))
    return replace(snapshot, plans=tuple(plans))


_CHANGES = (*[_perform] * 12, *[_end] * 8, _answer, _answer, _flag, _gate, _time, _settings, _text)
