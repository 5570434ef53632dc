"""The report of a rehearsed council in a browser: it opens from a file, passes axe, keeps secrets."""

import json
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.attacks.by_executor_files import SECRETS
from tests.support.browser import LOOKS, look_at
from tests.support.programs import scratch_environment

pytestmark = pytest.mark.walk

MOST_BYTES = 500_000
SECONDS = 300


class CouncilReportFile(NamedTuple):
    """The report of a job in which documents and a request contain secrets."""

    path: Path
    text: str


@pytest.fixture(scope="module")
def council_report(
    installed_command: Path, tmp_path_factory: pytest.TempPathFactory
) -> CouncilReportFile:
    place = tmp_path_factory.mktemp("report")
    folder = place / "project"
    folder.mkdir()
    environment = scratch_environment(place)
    del environment["FAIRLEAD_NOW"]  # a job needs time that passes

    def run(*words: str) -> str:
        done = subprocess.run(
            [*words], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    command = str(installed_command)
    run("git", "init", "-q", "-b", "main")
    run("git", "config", "user.name", "A Person")
    run("git", "config", "user.email", "person@example.com")
    run(command, "init", "Harbour", "--yes")
    run("git", "add", "-A")
    run("git", "commit", "-qm", "start")
    goal = f"Lamps follow the tide; the key is {SECRETS[0]} <script>alert(1)</script>"
    made = json.loads(run(command, "run", goal, "--rehearse", "--here", "--approve", "--json"))
    for plan in folder.glob(".planning/phases/*/*-PLAN.md"):
        hidden = "\n".join(SECRETS)
        plan.write_text(plan.read_text("utf-8") + f"\n{hidden}\n", "utf-8")
    run(command, "report", "--job", made["job"], "--output", "report.html")
    path = folder / "report.html"
    return CouncilReportFile(path, path.read_text("utf-8"))


def test_the_report_is_small_and_has_every_part(council_report: CouncilReportFile) -> None:
    assert len(council_report.text.encode()) < MOST_BYTES
    for title in ("What was asked", "Votes", "The plan", "Gates", "Evidence", "Changed files"):
        assert f">{title}</h2>" in council_report.text
    assert "Cost" in council_report.text


@pytest.mark.parametrize("secret", SECRETS)
def test_it_contains_no_secret(council_report: CouncilReportFile, secret: str) -> None:
    assert secret not in council_report.text


def test_it_opens_from_a_file_without_network_and_passes_axe(
    council_report: CouncilReportFile,
) -> None:
    for look in look_at(council_report.path.as_uri()):
        assert look.requests == [council_report.path.as_uri()]
        assert look.messages == []
        assert look.grave == [], f"{look.width} {look.scheme}"
        assert look.passed > 10
        assert look.overflow <= 0


def test_a_planted_fault_is_found(council_report: CouncilReportFile, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    text = council_report.text.replace("<main>", '<main><img src="missing.png"><button></button>')
    broken.write_text(text.replace('lang="en"', ""), "utf-8")
    [look] = look_at(broken.as_uri(), LOOKS[:1])
    assert {"image-alt", "button-name", "html-has-lang"} <= {each["id"] for each in look.grave}
    assert look.messages  # the policy refuses the picture
