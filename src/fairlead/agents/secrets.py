"""Remove secrets from text: the one filter for prompts, agent output, command output and records.

    text, left_out = without_secrets(text)

Each secret is replaced by a mark with the rule that matched. The number of lines does not change,
so line numbers stay valid, and filtering twice changes nothing more. Secrets are recognised by a
fixed prefix or by the name they are assigned to, also if they are encoded as base64, as hexadecimal
digits or for an address; others cannot be found. A value inside quotes
never takes the quotes with it, so JSON stays JSON. Every pattern runs in linear time on any text.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from fairlead.agents.model import AgentEvent, AgentText
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import names_of, replace

_PLACEHOLDER = lazy_pattern(
    r"(?i)(?:^|[^a-z])example|placeholder|changeme|change_me|your[_-]|dummy|redacted|left out|xxx"
    r"|\*\*\*|\.\.\.|^(.)\1*$|^pass(?:word)?$|^<.*>$|(?:^|[^a-z])(?:fake|invalid)(?:[^a-z]|$)"
)
# Values that stand for no secret: numbers, truth values, paths, addresses and calls of functions.
_ORDINARY = lazy_pattern(
    r"(?i)[0-9.,_]+|true|false|none|null|undefined|(?:\.{0,2}/|https?://).*|[\w.]+\(.*"
)
_DIGIT_AND_LETTER = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])")
_NAME = lazy_pattern(r"[A-Za-z_.]+[0-9]{0,3}")  # a variable: token_v2
_MIXED = lazy_pattern(r"(?=[^0-9]*[0-9])(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])")


class LeftOut(NamedTuple):
    """A secret that was removed."""

    kind: str
    line: int  # in the original text, from 1


def _is_any(_: str) -> bool:
    return True


def _is_value(value: str) -> bool:
    return not (_PLACEHOLDER.search(value) or _ORDINARY.fullmatch(value))


def _is_random(value: str) -> bool:
    is_mixed = _DIGIT_AND_LETTER.match(value) and not _NAME.fullmatch(value)
    return bool(is_mixed) and _is_value(value)


class _Rule(NamedTuple):
    """A kind of secret: the group `secret` of its pattern, or else the whole match."""

    kind: str
    pattern: re.Pattern[str]
    signs: tuple[str, ...]  # in lower case; the pattern matches only if the text has one of them
    is_secret: Callable[[str], bool] = _is_any


# A private key: everything between its two lines, if that has base64; without an end, its base64.
_KEY = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BLOCK = (
    rf"{_KEY}(?=[^-]*[A-Za-z0-9+/]{{16}})(?:[^-]++|-(?!----))*+"
    r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
)
_OPEN_BLOCK = rf"{_KEY}(?:\s*+(?:[A-Za-z0-9+/=\\]{{16,}}+|[A-Z][A-Za-z-]{{2,20}}: [^\n]*+))++"
# Without its first line, because the text was cut: its base64, up to its last line.
_GAP = r"(?:\s|\\[nr]|[\"',|>]){1,20}+"  # between two lines of a key
_CUT_BLOCK = (
    rf"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{{16,200}}+(?:{_GAP}[A-Za-z0-9+/=]{{1,200}}+){{0,120}}+"
    rf"{_GAP}-----END [A-Z0-9 ]{{0,40}}PRIVATE KEY(?: BLOCK)?-----"
)
# The first \b of a shape: also behind an escaped control character, such as \n, \x0a and \u000a.
_BEGIN = r"(?:(?<!\w)|(?<=\\[abefnrtv0])|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_SHAPES = tuple(
    _Rule(kind, lazy_pattern(shape.replace(r"\b", _BEGIN, 1)), tuple(signs.split()))
    for kind, signs, shape in (
        ("private key", "private", _BLOCK),
        ("private key", "private", _OPEN_BLOCK),
        ("private key", "-----end", _CUT_BLOCK),
        ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
        (
            "OpenAI key",
            "sk-",
            r"\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})",
        ),
        ("AWS key", "akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
        (
            "GitHub token",
            "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})",
        ),
        (
            "GitLab token",
            "glpat- gldt- glrt- glptt-",
            r"\bgl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}",
        ),
        ("Slack token", "xox xapp-", r"\b(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"),
        (
            "Slack webhook",
            "hooks.slack.com",
            r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
        ),
        (
            "Discord webhook",
            "/api/webhooks/",
            r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}",
        ),
        ("Google key", "aiza", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("Google token", "ya29.", r"\bya29\.[A-Za-z0-9_-]{20,}"),
        ("Google secret", "gocspx-", r"\bGOCSPX-[A-Za-z0-9_-]{20,}"),
        (
            "Stripe key",
            "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
            r"\b(?:[rs]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}",
        ),
        ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("Hugging Face token", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
        ("SendGrid key", "sg.", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
        ("DigitalOcean token", "_v1_", r"\bdo[oprt]_v1_[a-f0-9]{40,}"),
        ("Vault token", "hvs. hvb. hvr.", r"\bhv[bsr]\.[A-Za-z0-9_-]{20,}"),
        ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
        ("Databricks token", "dapi", r"\bdapi[a-f0-9]{32}\b"),
        ("Linear key", "lin_api_", r"\blin_api_[A-Za-z0-9]{32,}"),
        ("Atlassian token", "atatt3", r"\bATATT3[A-Za-z0-9_=-]{50,}"),
        ("Azure key", "accountkey=", r"\bAccountKey=[A-Za-z0-9+/]{60,}={0,2}"),
        ("Telegram token", ":aa", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}"),
        ("age key", "age-secret-key-", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        (
            "web token",
            "eyj",
            r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
        ),
    )
)
# A password that equals the name is a default of a test database.
_ADDRESS = r"://([^\s:/@\"']{0,100}):(?!\1@)(?P<secret>[^\s:/@\"'$<{\[]{3,200})(?=@)"
_BEARER = (
    r"(?i)(?:authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?(?:bearer|basic|token)|bearer)"
    r"\s{1,4}(?P<secret>[A-Za-z0-9_.+/=~-]{8,4000})"
)
_QUOTED = (
    r"(?i)(?:password|passwd|passphrase|secret|(?:api|access|private)[_-]?key"
    r"|(?:auth|access|refresh|bot)[_-]?token)\\?[\"']?\s{0,8}(?::|=|:=|=>)\s{0,8}\\?[\"']"
    r"(?P<secret>[^\"'\\\r\n]{6,1000})(?=\\?[\"'])"
)
_UPPER_NAME = (
    r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)"
    r"(?:_[A-Z0-9_]{0,20}|[0-9]{0,4})="
)
_VARIABLE = (
    rf"(?m)^[ \t]{{0,40}}(?:export[ \t]{{1,4}})?[A-Z0-9_]{{0,60}}{_UPPER_NAME}"
    r"(?P<secret>[^\s\"'$<#(\[]\S{5,1000})"
)
_INLINE = rf"{_UPPER_NAME}(?P<secret>[^\s\"'`\\,;&|$<>()\[\]{{}}]{{6,1000}})"
_PAIR = (
    r"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key)[ \t]{0,4}[:=][ \t]{0,4}"
    r"(?P<secret>[^\s\"'`\\,;&|$<>()\[\]{}]{8,1000})"
)
# Without quotes only a value with letters and digits that ends the line: prose has neither.
_LINE = (
    r"(?im)^[ \t]{0,40}(?:[-*+] )?[\w./:-]{0,60}(?:password|passwd|passphrase|secret|token"
    r"|(?:api|access|account|private|secret)[_-]?key)[ \t]{0,8}[:=][ \t]{0,8}"
    r"(?=[^\s0-9]{0,200}[0-9])(?=[^\sA-Za-z]{0,200}[A-Za-z])"
    r"(?P<secret>[^\s\"'$<#(\[{]\S{7,1000})(?=[ \t]*$)"
)
# Words of a command line and of .netrc, where nothing else can follow.
_OPTION = (
    r"(?i)(?<![\w-])(?:--(?:[a-z]+-)?(?:password|passwd|passphrase|secret|token|(?:api|access)-key)"
    r"(?:=|[ \t]{1,4})|login[ \t]+\S{1,100}[ \t]+password[ \t]+)[\"']?"
    r"(?P<secret>[^\s\"'`\\,;&|$<>()\[\]{}-][^\s\"'`\\,;&|$<>()\[\]{}]{5,1000})"
)
_IN_QUOTES = (
    r"(?i)token\\?[\"']?\s{0,8}(?::|=|:=|=>)\s{0,8}\\?[\"']"
    r"(?P<secret>[A-Za-z0-9_.+/=~-]{16,1000})(?=\\?[\"'])"
)
_AWS = (
    r"(?i)(?:secret|aws)[\w .-]{0,40}\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"
    r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
)
_NAMES = ("password", "passwd", "passphrase", "secret", "token", "key")
_ASSIGNED = (
    _Rule("password in an address", lazy_pattern(_ADDRESS), ("://",), _is_value),
    _Rule("authorization", lazy_pattern(_BEARER), ("bearer", "authorization"), _is_random),
    _Rule(
        "AWS secret", lazy_pattern(_AWS), ("secret", "aws"), lambda each: bool(_MIXED.match(each))
    ),
    _Rule("assigned secret", lazy_pattern(_QUOTED), _NAMES, _is_value),
    _Rule("assigned secret", lazy_pattern(_IN_QUOTES), ("token",), _is_random),
    _Rule("assigned secret", lazy_pattern(_OPTION), _NAMES, _is_value),
    _Rule("assigned secret", lazy_pattern(_VARIABLE), _NAMES, _is_value),
    _Rule("assigned secret", lazy_pattern(_INLINE), _NAMES, _is_value),
    _Rule("assigned secret", lazy_pattern(_PAIR), (*_NAMES, "pwd"), _is_random),
    _Rule("assigned secret", lazy_pattern(_LINE), _NAMES, _is_value),
)


_RULES = (*_SHAPES, *_ASSIGNED)
_SIGNS = tuple({sign: None for rule in _RULES for sign in rule.signs})


# Colours, titles and other sequences for a terminal, as they are or made visible, and characters
# that nobody sees.
_UNSEEN = "\x00\xad\u200b\u200c\u200d\u2060\ufeff"
_TERMINAL_CODE = lazy_pattern(
    r"(?i)(?:[\x1b\ufffd]|\\x1b|\\u001b|\\033|\\e)\[[0-9;:?]{0,40}[a-z]|\x9b[0-9;:?]{0,40}[a-z]"
    rf"|\x1b\][^\x07\x1b\n]{{0,200}}(?:\x07|\x1b\\)|[{_UNSEEN}]"
)
_CODE_SIGNS = ("\x1b", "\x9b", "\\x1b", "\\u001b", "\\033[", "\\e[", "\ufffd[", *_UNSEEN)
# Text that may be encoded: escaped for an address, as hexadecimal digits, or as base64.
_ESCAPED = lazy_pattern(r"(?<![\w.~+-])(?:[\w.~+-]*+%[0-9A-Fa-f]{2})++[\w.~+-]*+")
_RUN = lazy_pattern(r"(?:(?<=\\)[abefnrtv])?(?P<run>[A-Za-z0-9+/_-]{24,}+={0,2})")
_URL_SAFE = str.maketrans("-_", "+/")
_HEX = lazy_pattern(r"(?:[0-9a-f]{2})+|(?:[0-9A-F]{2})+")


def without_secrets(text: str) -> tuple[str, list[LeftOut]]:
    """The text without anything that looks like a secret, and what was removed.

    Codes for a terminal may split a secret: a text with both loses its codes.
    """
    if any(sign in text for sign in _CODE_SIGNS):
        plain = _TERMINAL_CODE.sub("", text)
        if plain != text:
            filtered, removed = _filtered(plain)
            if removed:
                return filtered, removed
    return _filtered(text)


def _filtered(text: str) -> tuple[str, list[LeftOut]]:
    removed: list[LeftOut] = []
    text = _without_plain(_without_encoded(text, removed), removed)
    return text, sorted(removed, key=lambda each: each.line)


def _without_encoded(text: str, removed: list[LeftOut]) -> str:
    """The text without runs of characters that decode to a secret."""

    def mark(match: re.Match[str]) -> str:
        run = match[match.lastgroup or 0]
        for decoded in _decoded(run):
            found: list[LeftOut] = []
            _without_plain(decoded, found)
            if found:
                line = text.count("\n", 0, match.start()) + 1
                removed.append(LeftOut(found[0].kind, line))
                return f"{match[0].removesuffix(run)}[{found[0].kind} left out]"
        return match[0]

    for pattern in (_ESCAPED, _RUN) if "%" in text else (_RUN,):
        runs = (match[match.lastgroup or 0] for match in pattern.finditer(text))
        decoded = "\n".join(each for run in runs for each in _decoded(run)).lower()
        if any(sign in decoded for sign in _SIGNS):  # rare: no run is looked at alone otherwise
            text = pattern.sub(mark, text)
    return text


def _decoded(run: str) -> Iterator[str]:
    """What a run of characters may stand for; of base64, from wherever it may begin."""
    if "%" in run:
        yield unquote(run)
    elif _HEX.fullmatch(run):  # most runs: ids and digests
        yield bytes.fromhex(run).decode("latin-1")
    elif run.upper() != run != run.lower():  # base64 of text has both kinds of letters
        plain = run.rstrip("=").translate(_URL_SAFE)
        for begin in range(4):
            part = plain[begin:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            yield b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")


def _without_plain(text: str, removed: list[LeftOut]) -> str:
    lowered = text.lower()
    present = {sign for sign in _SIGNS if sign in lowered}
    if not present:  # most texts: every field of every record comes here
        return text
    for rule in _RULES:
        if not present.isdisjoint(rule.signs):
            text = rule.pattern.sub(_marking(text, rule, removed), text)
    return text


def _marking(text: str, rule: _Rule, removed: list[LeftOut]) -> Callable[[re.Match[str]], str]:
    """A function that replaces one kind and counts lines, which no replacement changes."""
    seen_to, line = 0, 1
    group = "secret" if rule.pattern.groups else 0

    def mark(match: re.Match[str]) -> str:
        nonlocal seen_to, line
        secret = match[group]
        if not rule.is_secret(secret):
            return match[0]
        line += text.count("\n", seen_to, match.start())
        seen_to = match.start()
        removed.append(LeftOut(rule.kind, line))
        breaks = "\n" * secret.count("\n")
        kept = match[0][: match.start(group) - match.start()]
        return f"{kept}[{rule.kind} left out]{breaks}"

    return mark


Value = TypeVar("Value")


def value_without_secrets(value: Value) -> Value:
    """A JSON-like value in which every text is filtered; names of fields stay."""
    filtered: object = value
    if isinstance(value, str):
        filtered = without_secrets(value)[0]
    elif isinstance(value, Mapping):
        filtered = {name: value_without_secrets(each) for name, each in value.items()}
    elif isinstance(value, list | tuple):
        filtered = type(value)(map(value_without_secrets, value))
    return filtered  # type: ignore[return-value]


_LONGEST_PENDING = 1 << 16  # characters of one line that are kept back


class FilteredEvents:
    """Passes the events of an agent on without secrets.

    Text that arrives in pieces is kept back up to the end of its line, and a private key up to its
    last line, because the pieces of a secret look like nothing.
    """

    def __init__(self, watch: Callable[[AgentEvent], None]) -> None:
        self._watch = watch
        self._pending: AgentText | None = None

    def __call__(self, event: AgentEvent) -> None:
        """Take the next event."""
        if not (isinstance(event, AgentText) and event.is_piece):
            self.close()
            self._watch(_filtered_event(event))
            return
        pending = self._pending
        if pending is not None and pending.is_thinking == event.is_thinking:
            event = replace(event, text=pending.text + event.text)
        else:
            self.close()
        cut = _safe_length(event.text)
        if cut:
            self._watch(_filtered_event(replace(event, text=event.text[:cut])))
        rest = event.text[cut:]
        self._pending = replace(event, text=rest) if rest else None

    def close(self) -> None:
        """Pass on what is kept back: the text goes no further."""
        pending, self._pending = self._pending, None
        if pending is not None:
            self._watch(_filtered_event(pending))


def _filtered_event(event: AgentEvent) -> AgentEvent:
    values = {name: getattr(event, name) for name in names_of(event)}
    texts = {name: each for name, each in values.items() if type(each) is str and each}
    filtered = {name: without_secrets(each)[0] for name, each in texts.items()}
    return replace(event, **filtered) if filtered != texts else event  # type: ignore[arg-type]


def _safe_length(text: str) -> int:
    """How much of a growing text can be filtered now: no secret goes over its end."""
    end = text.rfind("\n") + 1
    begun = text.rfind("-----BEGIN ")
    if begun >= 0 and text.find("-----END ", begun, end) < 0:
        end = min(end, begun)
    return len(text) if len(text) - end > _LONGEST_PENDING else end
