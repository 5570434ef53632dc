"""`fairlead doctor`, `check` and `undo`: output, prompts and exit codes."""

import json

import pytest

from fairlead.interfaces.cli.main import run
from tests.support.peculiar import ARCHIVED, BASE, CLAIMS, CONFLICT, DRIFT, UNEXPLAINED, put, state
from tests.support.trees import read_tree


@pytest.fixture
def call(tmp_path, capsys):
    """Run a command in the scratch folder; return exit code, stdout and stderr."""

    def called(*arguments: str):
        code = run(["-C", str(tmp_path), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return called


def test_doctor_shows_each_finding_with_its_repair_and_changes_nothing(tmp_path, call):
    put(tmp_path, DRIFT["percent-differs"])
    before = read_tree(tmp_path)

    code, out, _ = call("doctor")

    assert code == 0
    assert ".planning/STATE.md:12: progress.percent says 40%, the files say 50%" in out
    assert "--fix writes 50%" in out
    assert read_tree(tmp_path) == before


def test_doctor_reports_a_healthy_project(tmp_path, call):
    put(tmp_path, BASE)

    assert call("doctor")[1].startswith("✓")


def test_fix_shows_the_difference_and_writes_it(tmp_path, call):
    put(tmp_path, DRIFT["percent-differs"])

    code, out, _ = call("doctor", "--fix")

    assert code == 0
    assert "-  percent: 40" in out
    assert "+  percent: 50" in out
    assert call("check")[0] == 0


def test_a_dry_run_shows_the_difference_and_writes_nothing(tmp_path, call):
    put(tmp_path, DRIFT["percent-differs"])
    before = read_tree(tmp_path)

    code, out, _ = call("doctor", "--fix", "--dry-run")

    assert code == 0
    assert "+  percent: 50" in out
    assert read_tree(tmp_path) == before


def test_a_linked_phase_folder_is_reported_before_claims_are_corrected(tmp_path, call):
    home = put(tmp_path, BASE) / ".planning/phases/01-login"
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")
    message = ".planning/phases/01-login: folder: is a link or a file, and is never read"

    assert call("check")[1].startswith(message)
    code, out, _ = call("doctor")
    assert (code, out.startswith(message)) == (0, True)
    assert "replace the link with the folder itself" in out
    assert message in call("doctor", "--fix", "--claims", "correct", "--dry-run")[2]
    code, out, _ = call("doctor", "--fix", "--claims", "correct", "--json")
    assert (code, json.loads(out)["notices"]) == (0, [message])


def test_claims_need_fix(tmp_path, call):
    put(tmp_path, BASE)

    assert call("doctor", "--claims", "correct")[0] == 2


def test_a_remaining_claim_is_shown_with_both_repairs(tmp_path, call):
    put(tmp_path, CLAIMS["the counters"])

    code, out, _ = call("doctor", "--fix")

    assert code == 0
    assert "--claims correct" in out
    assert "--claims reconstruct" in out


def test_a_claim_that_cannot_be_reconstructed_is_refused_with_a_reason(tmp_path, call):
    put(tmp_path, UNEXPLAINED["more plans than there are"])

    code, _, complaint = call("doctor", "--fix", "--claims", "reconstruct")

    assert code == 6
    assert "would not prove it" in complaint
    assert "--claims correct" in complaint


def test_a_repair_that_would_be_refused_is_not_offered(tmp_path, call):
    put(tmp_path, UNEXPLAINED["more plans than there are"])

    assert "reconstruct" not in call("doctor")[1]
    assert "reconstruct" not in call("doctor", "--fix")[1]


@pytest.mark.parametrize(
    ("files", "advice"),
    [
        (DRIFT["percent-differs"], "Repair with: fairlead doctor --fix"),
        (CONFLICT, "For advice: fairlead doctor\n"),
        (CLAIMS["the counters"], "For advice: fairlead doctor\n"),
    ],
    ids=["drift", "conflict", "claims"],
)
def test_check_names_a_command_that_helps(tmp_path, call, files, advice):
    put(tmp_path, files)

    code, out, _ = call("check")

    assert (code, advice in out) == (1, True)


@pytest.mark.parametrize("command", ["add-decision --phase 1 --summary x", "sync"])
def test_frontmatter_that_doctor_can_repair_is_not_left_to_an_editor(tmp_path, call, command):
    put(tmp_path, state(("name: First", "name: First: again"), (" # a person's key", "")))

    code, _, err = call("state", *command.split())

    assert code == 3
    assert "fairlead doctor --fix" in err
    assert call("doctor", "--fix")[0] == 0
    assert call("state", *command.split())[0] == 0


ROADMAP = "# Roadmap\n\n- [ ] **Phase 9: Feed** - news\n- [ ] **Phase 10: Mail** - post\n"


def test_a_recreated_state_has_the_position_and_no_invented_milestone(tmp_path, call):
    put(tmp_path, {**BASE, "workstreams/api/ROADMAP.md": ROADMAP})

    assert call("doctor", "--fix", "--create", "--ws", "api")[0] == 0
    text = (tmp_path / ".planning/workstreams/api/STATE.md").read_text("utf-8")

    assert "next_action: discuss-phase" in text
    assert "(Feed)\nPlan: Not started\nStatus: Ready to plan\n" in text
    assert "milestone" not in text
    assert call("check", "--ws", "api")[0] == 0
    assert "already" in call("state", "sync", "--ws", "api")[1]


@pytest.mark.parametrize("verb", ["status", "next"])
def test_a_phase_left_open_by_an_archived_milestone_is_not_complete(tmp_path, call, verb):
    put(tmp_path, ARCHIVED)

    code, out, _ = call(verb)

    assert code == 0
    assert "Every phase is complete" not in out
    assert "Milestone v1.0 is archived; phase 2: no summary proves plan 02-02" in out


ABROAD = "# Estado\n\n## Posición actual\n\nFase: 3 de 3 (Ship)\nProgreso: [█████░░░░░] 50%\n"


@pytest.mark.parametrize("verb", ["check", "doctor"])
def test_text_that_is_not_understood_is_not_reported_as_correct(tmp_path, call, verb):
    put(tmp_path, {**BASE, "STATE.md": ABROAD})

    code, out, _ = call(verb)

    assert code == 0
    assert "[position-not-understood]" in out
    assert "`## Current Position`" in " ".join(out.split())  # long lines are wrapped
    assert "The documents say what the files say" not in out


def test_a_conflict_is_left_to_a_person(tmp_path, call):
    put(tmp_path, CONFLICT)

    code, out, _ = call("doctor", "--fix")

    assert code == 3
    assert "both sides may be right" in out


SETTINGS = {
    "a byte that is no JSON": '{"fairlead": {"completion": "verified"}} x\n',
    "a word that nobody knows": '{"fairlead": {"completion": "verfied"}}\n',
    "nothing": "",
}


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_unreadable_settings_are_reported_and_left_to_a_person(tmp_path, call, text):
    put(tmp_path, {**BASE, "config.json": text})

    code, out, _ = call("check", "--json")
    (finding,) = json.loads(out)["findings"]

    assert (code, finding["code"]) == (1, "document-malformed")
    assert finding["path"] == ".planning/config.json"
    assert "correct it in an editor" in call("doctor")[1]


@pytest.mark.parametrize(
    "command",
    ["state sync", "state complete-phase --phase 1", "phase complete 1", "doctor --fix",
     "roadmap update-progress", "state begin-phase --phase 2"],
)  # fmt: skip
def test_no_count_is_written_while_the_settings_are_unreadable(tmp_path, call, command):
    put(tmp_path, {**BASE, "config.json": SETTINGS["a byte that is no JSON"]})
    before = read_tree(tmp_path)

    code, _, err = call(*command.split())

    assert code == 3
    assert ".planning/config.json:1:" in err
    assert {name: text for name, text in read_tree(tmp_path).items() if name in before} == before


def test_json_carries_findings_means_and_what_is_left(tmp_path, call):
    put(tmp_path, CLAIMS["the box of a plan"])

    lines = CLAIMS["the box of a plan"]["ROADMAP.md"].splitlines()
    line = lines.index("- [x] 02-02-PLAN.md — the page") + 1
    shown = json.loads(call("doctor", "--json")[1])
    fixed = json.loads(call("doctor", "--fix", "--json")[1])

    assert shown["findings"][0]["means"] == "claims"
    assert shown["findings"][0]["finding"]["code"] == "claim-unproven"
    assert fixed["changed"] == []
    assert fixed["left"][0]["finding"]["line"] == line


def test_undo_undoes_and_restores_the_repair(tmp_path, call):
    put(tmp_path, DRIFT["position-differs"])
    before = (tmp_path / ".planning/STATE.md").read_bytes()
    call("doctor", "--fix")
    after = (tmp_path / ".planning/STATE.md").read_bytes()

    first, out, _ = call("undo")
    taken_back = (tmp_path / ".planning/STATE.md").read_bytes()
    second = call("undo")[0]

    assert (first, second) == (0, 0)
    assert "Undone: doctor" in out
    assert taken_back == before
    assert (tmp_path / ".planning/STATE.md").read_bytes() == after


def test_undo_refuses_when_a_document_was_changed_since(tmp_path, call):
    put(tmp_path, DRIFT["percent-differs"])
    call("doctor", "--fix")
    with (tmp_path / ".planning/STATE.md").open("a") as state:
        state.write("by hand\n")

    code, _, complaint = call("undo")

    assert code == 4
    assert ".planning/STATE.md" in complaint


def test_undo_of_nothing_is_a_conflict(tmp_path, call):
    put(tmp_path, BASE)

    code, out, _ = call("undo", "--json")

    assert code == 4
    assert json.loads(out)["error"]["code"] == "nothing-to-undo"
