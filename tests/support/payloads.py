"""Five hundred texts that try to control, deceive or hide in a terminal.

Each could be in a file, a file name or a setting. They are generated from tables, so that every
family is complete, and topped up with seeded mixtures.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

COUNT = 500
_ESCAPE = "\x1b"
_CSI_BODIES = (
    "2J", "3J", "H", "1;1H", "10A", "99B", "5C", "80D", "2K", "1K", "0K", "5m", "7m", "8m",
    "38;5;201m", "48;2;9;9;9m", "6n", "5n", "c", ">c", "=c", "?6n", "s", "u", "?25l", "?47h",
    "?1049h", "?1000h", "?1006h", "?2004h", "?5h", "?7l", "4h", "20h", "12l", "2;5r", "3L", "3M", "9P",
    "4@", "3S", "3T", "5X", "2g", "!p", "21t", "18t", "8;1;1t", "20t", "11;22;33;44;55m", "5i", "0q",
    "2 q", "?1;2c", "1;2'z", "10G", "4d", "3e", "2I", "2Z", "9999999999A", ";;;;H", "?1004h",
)  # fmt: skip
_OSC_BODIES = (
    "0;owned", "1;owned", "2;owned", "4;1;rgb:ff/00/00", "7;file:///etc/passwd", "8;;http://x.invalid/",
    "9;done", "10;?", "11;?", "12;red", "52;c;cm0gLXJm", "52;p;?", "104", "110", "112", "133;A",
    "777;notify;a;b", "1337;File=:AAAA", "1337;SetMark", "50;?", "60", "3;x=y",
)  # fmt: skip
_STRINGS = {"P": "\x90", "_": "\x9f", "^": "\x9e", "X": "\x98"}  # DCS, APC, PM, SOS
_STRING_BODIES = ("$qm", "+q544e", "1$tx", "q#0;2;0;0;0", "tmux;x", "0;1|17/41", "Ga=q,i=1;AAAA")
_ESCAPES = "c 7 8 D E H M N O Z = > (0 )0 *0 #8 %G %@ n o | } ~ [ ] P \\ 6 9 F l m V W".split()
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_INVISIBLE = (
    0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060,
    0x2061, 0x2062, 0x2063, 0x2064, 0x206A, 0x206F, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFA, 0xFFFB,
    0x1D173, 0xE0001, 0xE007F, 0xE0100,
)  # fmt: skip
_DECEPTIONS = (
    "good\rEVIL", "secret" + "\b" * 6 + "public", "a\tb\tc", "one\x0btwo", "one\x0ctwo", "a\x85b",
    "a\u2028b", "a\u2029b", "\x1b", "\x1b\x1b\x1b[2J", "\x1b[\x1b]0;x\x07", "\x18\x1a\x1b[H", "\x1b[31",
    "\x1b]0;never closed", "\x1bP never closed", "\x0e\x0f", "\x05", "\x07" * 20, "\x7f" * 20,
    "\x1b[?1049h\x1b[2J\x1b[H$ fake prompt", "\x1b[8mhidden\x1b[0m", "a\x00b", "\x1b%G\x1b(0lqqk\x1b(B",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Payload:
    """One text, and the family it belongs to."""

    family: str
    content: bytes

    @property
    def text(self) -> str | None:
        """The payload as text, unless it is not UTF-8."""
        try:
            return self.content.decode("utf-8")
        except UnicodeDecodeError:
            return None


@cache
def payloads() -> tuple[Payload, ...]:
    """Exactly `COUNT` different payloads, the same in every run."""
    found_payloads = list(dict.fromkeys(_families()))
    rng = random.Random(500)
    texts = [payload.text for payload in found_payloads if payload.text is not None]
    while len(found_payloads) < COUNT:
        mixture = Payload("mixture", "x".join(rng.sample(texts, 3)).encode())
        if mixture not in found_payloads:
            found_payloads.append(mixture)
    return tuple(found_payloads[:COUNT])


def _families() -> Iterator[Payload]:
    for number in (*range(0x20), 0x7F):
        if number != 0x0A:  # a line end is normal in a file
            yield Payload("c0", f"a{chr(number)}b".encode())
    for number in range(0x80, 0xA0):
        yield Payload("c1", f"a{chr(number)}b".encode())
    for body in _CSI_BODIES:
        yield Payload("csi", f"{_ESCAPE}[{body}".encode())
        yield Payload("csi-c1", f"\x9b{body}".encode())
    for body in _OSC_BODIES:
        yield Payload("osc", f"{_ESCAPE}]{body}\x07".encode())
        yield Payload("osc", f"{_ESCAPE}]{body}{_ESCAPE}\\".encode())
        yield Payload("osc-c1", f"\x9d{body}\x9c".encode())
    for introducer, short in _STRINGS.items():
        for body in _STRING_BODIES:
            yield Payload("string", f"{_ESCAPE}{introducer}{body}{_ESCAPE}\\".encode())
        yield Payload("string-c1", f"{short}{_STRING_BODIES[0]}\x9c".encode())
    for body in _ESCAPES:
        yield Payload("escape", f"{_ESCAPE}{body}".encode())
    for number in _BIDI:
        yield Payload("bidi", f"user{chr(number)}nimda".encode())
    for number in _INVISIBLE:
        yield Payload("invisible", f"in{chr(number)}visible".encode())
    for letter in "abcdefghijklmnopqrstuvwxyz":
        yield Payload("tag", f"flag{chr(0xE0000 + ord(letter))}".encode())
    for text in _DECEPTIONS:
        yield Payload("deception", text.encode())
    for raw in (
        b"\x9b2J",
        b"\x9d0;x\x9c",
        b"\xed\xa0\x80",
        b"\xed\xb0\x80",
        b"\xc0\x9b2J",
        b"\xff\x1b[2J",
    ):
        yield Payload("not-utf-8", b"a" + raw + b"b")
