"""Secrets in text: found by their shape, and left out before the text goes to a model.

    text, left_out = without_secrets(text)

Each is replaced by a mark that names its kind. Lines stay where they are, so that a place named
by line is still that place. Shapes are told by fixed beginnings or by the name they are assigned
to; what has neither cannot be found. Every pattern reads a text once, whatever it holds.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

_PLACEHOLDERS = re.compile(
    r"(?i)example|placeholder|changeme|change_me|your[_-]|dummy|redacted|left out|xxx|\*\*\*|\.\.\.|^(.)\1*$"
)


class LeftOut(NamedTuple):
    """A secret that a text no longer holds."""

    kind: str
    line: int  # in the text as it was, from 1


# Fixed beginnings: whatever follows is the secret. A key's block is its lines of base64, as far
# as they go: prose that only names such a block loses nothing.
_BLOCK = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:\s*+(?:[A-Za-z0-9+/=\\]{16,}+|[A-Z][A-Za-z-]{2,20}: [^\n]*+))++"
    r"(?:\s*+[A-Za-z0-9+/=\\]{0,15}+\s*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_SHAPES = tuple(
    (kind, re.compile(shape))
    for kind, shape in (
        ("private key", _BLOCK),
        ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
        ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
        ("AWS key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"),
        ("GitLab token", r"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}"),
        ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("Slack webhook", r"https://hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}"),
        ("Google key", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("Google token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
        ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}"),
        ("SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("DigitalOcean token", r"\bdo[oprt]_v1_[a-f0-9]{40,}"),
        ("Vault token", r"\bhv[bsr]\.[A-Za-z0-9_-]{20,}"),
        ("Google secret", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
        ("Shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
        ("Databricks token", r"\bdapi[a-f0-9]{32}\b"),
        ("Telegram token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
        ("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        ("web token", r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    )
)
# A name that says so, and what is assigned to it: group 1 stays, group 2 is the secret.
_ADDRESS = r"(://[^\s:/@\"']{0,100}:)([^\s:/@\"'$<{\[]{3,200})(?=@)"
_AUTHORIZATION = (
    r"(?i)(\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)\s{1,4})"
    r"([A-Za-z0-9_.+/=~-]{8,4000})"
)
_QUOTED = (
    r"(?i)((?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key"
    r"|(?:auth|access|refresh|bot)[_-]?token)[\"']?\s{0,8}(?::|=|:=|=>)\s{0,8}[\"'])"
    r"([^\"'\r\n]{6,1000})(?=[\"'])"
)
_VARIABLE = (
    r"(?m)(^[ \t]{0,40}(?:export[ \t]{1,4})?[A-Z0-9_]{0,60}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET"
    r"|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)[A-Z0-9_]{0,20}=)([^\s\"'$<#(\[]\S{5,1000})"
)
# Without quotes only what looks like no word: letters and digits, and nothing else on the line.
_LINE = (
    r"(?im)(^[ \t]{0,40}(?:[-*+] )?[\w./:-]{0,60}(?:password|passwd|passphrase|secret|token"
    r"|(?:api|access|account|private|secret)[_-]?key)[ \t]{0,8}[:=][ \t]{0,8})"
    r"(?=[^\s0-9]{0,200}[0-9])(?=[^\sA-Za-z]{0,200}[A-Za-z])([^\s\"'$<#(\[{]\S{7,1000})(?=[ \t]*$)"
)
_ASSIGNED = (
    ("password in an address", re.compile(_ADDRESS)),
    ("authorization", re.compile(_AUTHORIZATION)),
    ("assigned secret", re.compile(_QUOTED)),
    ("assigned secret", re.compile(_VARIABLE)),
    ("assigned secret", re.compile(_LINE)),
)


def without_secrets(text: str) -> tuple[str, list[LeftOut]]:
    """The text without what looks like a secret, and what was left out of it."""
    found: list[tuple[int, LeftOut]] = []
    for kind, shape in _SHAPES:
        text = shape.sub(_marking(text, kind, 0, found), text)
    for kind, shape in _ASSIGNED:
        text = shape.sub(_marking(text, kind, 2, found), text)
    return text, [each for _, each in sorted(found)]


def _marking(
    text: str, kind: str, group: int, found: list[tuple[int, LeftOut]]
) -> Callable[[re.Match[str]], str]:
    """Replaces one kind. Lines are counted on the way: no replacement changes their number."""
    seen_to, line = 0, 1

    def mark(match: re.Match[str]) -> str:
        nonlocal seen_to, line
        secret = match[group]
        if group and _PLACEHOLDERS.search(secret):
            return match[0]
        line += text.count("\n", seen_to, match.start())
        seen_to = match.start()
        found.append((line, LeftOut(kind, line)))
        breaks = "\n" * secret.count("\n")
        return f"{match[1] if group else ''}[{kind} left out]{breaks}"

    return mark
