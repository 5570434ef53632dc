"""Secrets in text: each shape is found, the rest of the text and its lines stay."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.records.secrets import LeftOut, without_secrets

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
]


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_of_each_shape_is_left_out_and_named(kind):
    text, left_out = without_secrets(f"one\ntwo: {SECRETS[kind]} and\nlast\n")

    assert left_out == [LeftOut(kind, 2)]
    assert LONG[:20] not in text
    assert f"[{kind} left out]" in text


@pytest.mark.parametrize("line", ASSIGNED)
def test_what_is_assigned_to_a_telling_name_is_left_out(line):
    text, left_out = without_secrets(f"# settings\n{line}\n")

    assert left_out == [LeftOut(ASSIGNED[line], 2)]
    assert "hunter2" not in text
    assert "8c7d6e" not in text


@pytest.mark.parametrize("line", INNOCENT)
def test_what_is_no_secret_stays_as_it_is(line):
    assert without_secrets(line) == (line, [])


def test_lines_stay_where_they_are_and_are_told_in_their_order():
    told = f"{KEY_BLOCK}\nhere\nA_TOKEN=8c7d6e5f4a3b\nAKIAIOSFODNN7ABCDEFG\n"

    text, left_out = without_secrets(told)

    assert [each.line for each in left_out] == [1, 6, 7]
    assert text.splitlines()[4] == "here"


def test_a_key_block_without_an_end_is_left_out_as_far_as_it_goes():
    text, _ = without_secrets(f"-----BEGIN PRIVATE KEY-----\n{LONG}\n{LONG}")

    assert LONG not in text


@given(st.lists(st.sampled_from([*SECRETS.values(), *ASSIGNED, *INNOCENT, "x", '"', "=", "@"])))
def test_a_filtered_text_has_nothing_more_to_leave_out(parts):
    text, _ = without_secrets("\n".join(parts))

    assert without_secrets(text) == (text, [])
    assert text.count("\n") == "\n".join(parts).count("\n")


@pytest.mark.parametrize(
    "piece", ["-----BEGIN PRIVATE KEY-----\n", "a:", "password='", "eyJ", "x://", "A" * 50, "a-"]
)
def test_a_hostile_text_takes_no_more_than_a_moment(piece):
    text = piece * (400_000 // len(piece))
    begun = time.process_time()

    without_secrets(text)

    assert time.process_time() - begun < 5
