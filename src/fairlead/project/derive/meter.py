"""The bar of ten cells, and the usage of an agent's context window.

The host compacts a conversation before the window is full, so usage is scaled to the usable part:
100 % is the moment of compaction. A bar fills only whole cells and never shows more than was
reached. No imports: the status line must start fast.
"""

CELLS = 10
COMPACTION_PERCENT = 16.5  # the host's default reserve
DEFAULT_WINDOW = 1_000_000

# Each level applies below its percentage; `FULL` applies above all of them.
LEVELS = ((50, "calm"), (65, "filling"), (80, "high"))
FULL = "full"


def cells(percent: int) -> str:
    """A bar of ten cells; each filled cell is a full tenth."""
    filled = percent // CELLS
    return "█" * filled + "░" * (CELLS - filled)


def reserved_percent(compaction_tokens: int, window_tokens: float) -> float:
    """The percentage that compaction keeps free; 0 tokens selects the host's default."""
    if compaction_tokens <= 0:
        return COMPACTION_PERCENT
    window = window_tokens or DEFAULT_WINDOW
    return min(100.0, max(0.0, (1 - compaction_tokens / window) * 100))


def used_percent(remaining: float, reserved: float) -> int:
    """The used percentage of the usable window, rounded half up, from the remaining percentage."""
    usable = 100 - reserved
    left = max(0.0, (remaining - reserved) / usable * 100) if usable else 0.0
    return min(100, int(max(0.0, 100 - left) + 0.5))


def level_of(used: int) -> str:
    """The level of a used percentage."""
    return next((level for limit, level in LEVELS if used < limit), FULL)


def short_count(tokens: float) -> str:
    """A number of tokens in a few characters: 950, 156k, 1.2M."""
    if tokens >= 1_000_000 or int(tokens / 1000 + 0.5) >= 1000:
        # Python rounds ties to the even digit; round them up instead.
        is_tie = tokens % 500_000 == 250_000
        return f"{(tokens + is_tie) / 1_000_000:.1f}M"
    if tokens >= 1000:
        return f"{int(tokens / 1000 + 0.5)}k"
    return f"{tokens:g}"
