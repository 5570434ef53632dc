"""Secrets in text: each shape is found, the rest of the text and its lines stay."""

import json
import random
import uuid
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.agents.model import AgentEvent, AgentFinished, AgentText, ToolStarted
from fairlead.agents.secrets import FilteredEvents, LeftOut, without_secrets

LONG = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"
KEY_BLOCK = f"-----BEGIN RSA PRIVATE KEY-----\n{LONG}\n{LONG}\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "private key": KEY_BLOCK,
    "Anthropic key": f"sk-ant-api03-{LONG}",
    "OpenAI key": f"sk-proj-{LONG}",
    "AWS key": "AKIAIOSFODNN7ABCDEFG",
    "GitHub token": f"ghp_{LONG}",
    "GitLab token": f"glpat-{LONG}",
    "Slack token": f"xoxb-{LONG}",
    "Slack webhook": f"https://hooks.slack.com/services/T0/B0/{LONG}",
    "Google key": f"AIza{LONG[:35]}",
    "Google token": f"ya29.{LONG}",
    "Stripe key": f"sk_live_{LONG}",
    "npm token": f"npm_{LONG[:36]}",
    "PyPI token": f"pypi-{LONG}{LONG}",
    "Hugging Face token": f"hf_{LONG}",
    "SendGrid key": f"SG.{LONG[:22]}.{LONG}",
    "DigitalOcean token": "dop_v1_" + "0123456789abcdef" * 4,
    "Vault token": f"hvs.{LONG}",
    "Google secret": f"GOCSPX-{LONG[:28]}",
    "Shopify token": "shpat_" + "0123456789abcdef" * 2,
    "Databricks token": "dapi" + "0123456789abcdef" * 2,
    "Telegram token": f"123456789:AA{LONG[:33]}",
    "age key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2T" * 5,
    "web token": f"eyJ{LONG}.eyJ{LONG}.{LONG}",
    "Discord webhook": f"https://discord.com/api/webhooks/123456/{LONG}",
    "Linear key": f"lin_api_{LONG}",
    "Atlassian token": f"ATATT3{LONG}{LONG}",
    "Azure key": f"AccountKey={LONG}{LONG}==",
}
ASSIGNED = {
    'db_password = "hunter2hunter2"': "assigned secret",
    '"apiKey": "8c7d6e5f4a3b"': "assigned secret",
    "STRIPE_SECRET=8c7d6e5f4a3b": "assigned secret",
    "export DEPLOY_TOKEN=8c7d6e5f4a3b": "assigned secret",
    "Authorization: Bearer 8c7d6e5f4a3b2c1d": "authorization",
    "aws_secret_access_key = 8c7d6e5f4a3b": "assigned secret",
    "password: hunter2hunter2": "assigned secret",
    "//npm.example.org/:_authToken=8c7d6e5f4a3b": "assigned secret",
    "postgres://app:hunter2hunter2@db/main": "password in an address",
    "mysql -u root --password=QwertzUiopAsdfgh2 app": "assigned secret",
    "curl --api-key 'QwertzUiopAsdfgh2' host": "assigned secret",
    "machine host login me password QwertzUiopAsdfgh2": "assigned secret",
    "token: '8c7d6e5f4a3b2c1d0e'": "assigned secret",
    "connecting with DB_PASSWORD=hunter2 to the database": "assigned secret",
    '{"evidence": "ran with DB_PASSWORD=hunter2", "error": null}': "assigned secret",
    r'"evidence": "it printed {\"password\": \"hunter2hunter2\"}"': "assigned secret",
    "GET /v1/items?page=2&access_token=8c7d6e5f4a3b&x=1 500": "assigned secret",
    "curl -H 'x: Bearer 8c7d6e5f4a3b2c1d' failed": "authorization",
    "E   aws secret: wJalrXUtnFEMI/K7MDENG/8c7d6eCYEXAMPLEKEY": "AWS secret",
    "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/8c7d6eCYEXAMPLEKEY": "AWS secret",
}
INNOCENT = [
    "password = os.environ['DB_PASSWORD']",
    'api_key: str = ""',
    "PASSWORD=$DB_PASSWORD",
    "API_KEY=your-api-key-here",
    'secret = "<your secret here: changeme>"',
    "The password is checked by `check_password(token)`.",
    "https://user@example.org/path",
    "a sk-learn pipeline, a risk-averse-and-very-long-hyphenated-word",
    "a file that begins with `-----BEGIN PRIVATE KEY-----` is refused, and so it ought to be",
    "password: required",
    "max_tokens: 8192",
    "token_url: https://login.example.org/v2",
    "- secret: kept in the vault since 2024",
    "commit 571fdbc0a6f1f4f0f0b9c8e7d6a5b4c3d2e1f0a9",
    "MAX_TOKENS=200000 and TOKEN_URL=https://login.example.org/v2",
    "Bearer authentication and bearer tokens of version 2",
    "f(token=token_v2, secret=self.secret1)",
    "postgres://postgres:postgres@localhost/test",
    "password: z.string().min(8).max(72),",
    "CRON_SECRET=<from-task-1>",
    "aws_commit: 571fdbc0a6f1f4f0f0b9c8e7d6a5b4c3d2e1f0a9",
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_each_shape_is_left_out_and_named(kind):
    text, left_out = without_secrets(f"one\ntwo: {SECRETS[kind]} and\nlast\n")

    assert left_out == [LeftOut(kind, 2)]
    assert LONG[:20] not in text
    assert f"[{kind} left out]" in text


@pytest.mark.parametrize("line", ASSIGNED)
def test_a_value_assigned_to_a_telling_name_is_removed(line):
    text, left_out = without_secrets(f"# settings\n{line}\n")

    assert left_out == [LeftOut(ASSIGNED[line], 2)]
    assert "hunter2" not in text
    assert "8c7d6e" not in text


@pytest.mark.parametrize("line", INNOCENT)
def test_text_that_is_no_secret_stays(line):
    assert without_secrets(line) == (line, [])


def test_the_number_of_lines_does_not_change_and_secrets_are_in_order():
    original = f"{KEY_BLOCK}\nhere\nA_TOKEN=8c7d6e5f4a3b\nAKIAIOSFODNN7ABCDEFG\n"

    text, left_out = without_secrets(original)

    assert [each.line for each in left_out] == [1, 6, 7]
    assert text.splitlines()[4] == "here"


def test_a_key_block_without_an_end_is_removed():
    text, _ = without_secrets(f"-----BEGIN PRIVATE KEY-----\n{LONG}\n{LONG}")

    assert LONG not in text


@given(st.lists(st.sampled_from([*SECRETS.values(), *ASSIGNED, *INNOCENT, "x", '"', "=", "@"])))
def test_a_filtered_text_contains_no_secret(parts):
    text, _ = without_secrets("\n".join(parts))

    assert without_secrets(text) == (text, [])
    assert text.count("\n") == "\n".join(parts).count("\n")


@pytest.mark.parametrize(
    "piece", ["-----BEGIN PRIVATE KEY-----\n", "a:", "password='", "eyJ", "x://", "A" * 50, "a-"]
)
def test_a_large_hostile_text_is_filtered(piece):
    text = piece * (400_000 // len(piece))

    filtered, _ = without_secrets(text)

    # Less than a second each; an expression that backtracks takes minutes.
    assert filtered.count("\n") == text.count("\n")


def test_a_key_block_is_removed_with_what_a_program_wrote_before_its_lines():
    lines = KEY_BLOCK.splitlines()
    text, left_out = without_secrets("\n".join(f"E       {line}" for line in lines))

    assert LONG not in text
    assert [each.kind for each in left_out] == ["private key"]


def test_a_filtered_json_answer_stays_json():
    secrets = [*SECRETS.values(), *(line for line in ASSIGNED if "\\" not in line)]
    for secret in secrets:
        answer = json.dumps({"evidence": f"it printed {secret}", "error": None})

        text, left_out = without_secrets(answer)

        assert left_out, secret
        assert json.loads(text)["error"] is None


def test_hashes_identifiers_and_prose_are_never_masked():
    rng = random.Random(7)
    hashes = [rng.randbytes(size).hex() for size in (4, 16, 20, 32, 64) for _ in range(400)]
    names = [str(uuid.UUID(bytes=rng.randbytes(16))) for _ in range(400)]
    encoded = [b64encode(rng.randbytes(48)).decode() for _ in range(400)]
    integrity = [f'"integrity": "sha512-{each}",' for each in encoded]
    lines = [f"commit {each} of {rng.choice(names)}" for each in hashes]
    ordinary = [*hashes, *names, *encoded, *integrity, *lines]
    root = Path(__file__).resolve().parents[2]
    prose = [path.read_text() for path in (*root.glob("docs/**/*.md"), root / "CHANGELOG.md")]
    code = [path.read_text() for path in root.glob("src/**/*.py")]

    for text in ("\n".join(ordinary), *prose, *code):
        assert without_secrets(text)[1] == []


# -- events ----------------------------------------------------------------------------------


def shown(*events: AgentEvent) -> list[AgentEvent]:
    """The events that are passed on."""
    passed: list[AgentEvent] = []
    filtered = FilteredEvents(passed.append)
    for event in events:
        filtered(event)
    filtered.close()
    return passed


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_secret_in_pieces_is_masked_in_the_events(size):
    for kind, secret in SECRETS.items():
        text = f"before {secret} after\nthe end"
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        passed = shown(*(AgentText(piece, is_piece=True) for piece in pieces))
        joined = "".join(str(getattr(each, "text", "")) for each in passed)

        assert (kind, joined) == (kind, without_secrets(text)[0])
        assert LONG[:20] not in repr(passed)


def test_every_text_of_an_event_is_filtered_and_the_order_stays():
    key = SECRETS["Anthropic key"]
    passed = shown(
        AgentText("first", is_piece=True),
        ToolStarted("1", "Bash", f"curl -H {key}"),
        AgentFinished(True, f"it is {key}"),
    )

    assert [type(each).__name__ for each in passed] == ["AgentText", "ToolStarted", "AgentFinished"]
    assert key not in repr(passed)


@pytest.mark.parametrize("escaped", [r"\n", r"\x0a", r"\u000a", r"\t", r"\x1b[0m"])
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_behind_an_escaped_character_is_found(kind: str, escaped: str) -> None:
    secret = SECRETS[kind]
    text, removed = without_secrets(f"it printed:{escaped}{secret} and went on")
    assert [each.kind for each in removed] == [kind]
    assert secret not in text


_CODES = [
    "\x1b[31m",
    "\x1b[0m",
    "\x1b[1;38;5;200m",
    "\x9b31m",
    "\x1b[K",
    r"\x1b[31m",
    r"\u001b[31m",
]


@pytest.mark.parametrize("code", _CODES)
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_that_colours_split_is_found(kind: str, code: str) -> None:
    secret = SECRETS[kind]
    middle = len(secret) // 2
    shown = f"{code}{secret[:4]}{code}{secret[4:middle]}{code}{secret[middle:]}{code} end"
    text, removed = without_secrets(shown)
    assert [each.kind for each in removed] == [kind]
    assert secret[middle:] not in text
    assert text.endswith(" end")


def test_colours_without_a_secret_stay() -> None:
    shown = "\x1b[31mred\x1b[0m and \\x1b[31m in a text"
    assert without_secrets(shown) == (shown, [])


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    "encode",
    [
        lambda text: b64encode(text.encode()).decode(),
        lambda text: urlsafe_b64encode(f"a value: {text}".encode()).decode(),
        lambda text: text.encode().hex(),
        lambda text: "".join(f"%{ord(each):02X}" for each in text),
        lambda text: quote(text, safe="").replace("-", "%2D"),
        lambda text: f"{text[:7]}\u200b{text[7:]}",
    ],
)
def test_an_encoded_secret_is_found(kind: str, encode: Callable[[str], str]) -> None:
    encoded = encode(SECRETS[kind])

    text, left_out = without_secrets(f"first\nit is {encoded}, and more")

    assert [each.line for each in left_out][:1] == [2]
    assert encoded not in text
    assert text.startswith("first\nit is ")


def test_encoded_text_without_a_secret_stays() -> None:
    plain = b64encode(b"an ordinary sentence about the parser").decode()
    text = f"{plain} {'ab' * 32} https://example.org/a%20b?c=%C3%A4 src/Some/Long/Path_OfAFile.py"
    assert without_secrets(text) == (text, [])
