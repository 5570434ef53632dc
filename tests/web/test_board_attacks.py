"""Attacks on the web board over a real socket: none succeeds, and none stops the server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.responses import RedirectResponse

from fairlead.interfaces.web import access, server
from fairlead.interfaces.web.access import AccessControl, BoardSessions
from tests.conftest import Fairlead
from tests.seeds.conftest import SeedProject
from tests.web.arena import BoardArena, hostile_project, serving
from tests.web.attacks import BOARD_ATTACKS, BOARD_WEAKNESSES

Weaken = Callable[[pytest.MonkeyPatch], None]


@pytest.fixture
def project(tmp_path: Path, fairlead: Fairlead) -> SeedProject:
    return hostile_project(tmp_path, fairlead)


def test_no_attack_succeeds_and_the_server_goes_on(project: SeedProject) -> None:
    with serving(project) as arena:
        for row in BOARD_ATTACKS.values():
            try:
                row.run(arena)
            except AssertionError as problem:
                raise AssertionError(f"{row.id}: {row.what}") from problem
            assert arena.is_alive(), row.id
            assert not arena.was_changed(), row.id


def test_the_table_has_eighty_attacks() -> None:
    assert len(BOARD_ATTACKS) >= 80


def _any_host(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AccessControl, "_fault", lambda *_: "")


def _codes_stay(patch: pytest.MonkeyPatch) -> None:
    def exchange(self: BoardSessions, code: str) -> str:
        session = self._token()
        self._forms[session] = self._token()
        return session if code in self._codes else ""

    patch.setattr(BoardSessions, "exchange", exchange)


def _no_secret(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("hmac.compare_digest", lambda *_: True)


def _no_escaping(patch: pytest.MonkeyPatch) -> None:
    def templates() -> object:
        made = original()  # not the shared ones
        made.autoescape = False
        made.finalize = None
        return made

    original = server.page_templates.__wrapped__
    patch.setattr(server, "page_templates", templates)


def _no_limit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(access, "MOST_BODY", 10**9)


def _no_session(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BoardSessions, "form_secret", lambda *_: "known")


def _patient(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(server._ImpatientProtocol, "_close_if_silent", lambda _: None)


def _open_redirect(patch: pytest.MonkeyPatch) -> None:
    def anywhere(place: str, status_code: int = 303) -> object:
        return RedirectResponse(
            "//evil.example" if status_code == 303 else place, status_code=status_code
        )

    patch.setattr(server, "RedirectResponse", anywhere)


WEAKEN: dict[str, Weaken] = {
    "every host, origin and method is accepted": _any_host,
    "codes can be reused and do not expire": _codes_stay,
    "forms need no secret": _no_secret,
    "text is not escaped": _no_escaping,
    "forms may be large": _no_limit,
    "every request has a session": _no_session,
    "the server waits forever": _patient,
    "an action may redirect to any address": _open_redirect,
}


@pytest.mark.parametrize("weakness", BOARD_WEAKNESSES)
def test_a_planted_weakness_lets_attacks_succeed(
    weakness: str, project: SeedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    WEAKEN[weakness](monkeypatch)
    monkeypatch.setattr("tests.web.attacks.HEADER_SECONDS", 0.02)
    with serving(project) as arena:
        for name in BOARD_WEAKNESSES[weakness]:
            with pytest.raises(AssertionError):
                BOARD_ATTACKS[name].run(arena)


@pytest.fixture
def arena(project: SeedProject) -> Iterator[BoardArena]:
    with serving(project) as found:
        yield found


def test_a_person_is_served(arena: BoardArena) -> None:
    """The control: the same client with the right host, origin, cookie and secret succeeds."""
    assert arena.get("/p/project").status == 200
    assert arena.post().status == 303
    assert arena.was_changed()
