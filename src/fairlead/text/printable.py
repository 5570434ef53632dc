"""Makes text safe for a terminal.

Control characters, escape sequences, direction overrides, invisible and tag characters are
escaped, such as `\\x1b` or `\\u202e`. All text from files, agents or the network passes through
here before it is shown. No imports: the status line uses this module.
"""

# Characters that are invisible, control the terminal, or change how others are displayed.
_UNSEEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F),
    (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip

JOINERS = "\u200c\u200d"  # parts of words in several scripts, and of emoji


def is_unseen(mark: str) -> bool:
    """Whether a character must be escaped before it reaches a terminal."""
    number = ord(mark)
    if 0x20 <= number < 0x7F:
        return False
    return any(first <= number <= last for first, last in _UNSEEN)


def visible(text: str, keep: str = "") -> str:
    """The text with every unsafe character escaped, except those in `keep`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escaped(mark) if is_unseen(mark) and mark not in keep else mark for mark in text
    )


def _escaped(mark: str) -> str:
    number = ord(mark)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
