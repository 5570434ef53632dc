"""Meters: how full something is, in ten cells, and how full an agent's context window is.

The host compacts the conversation before its window is full, so the meter is scaled to the
part that can be used: 100 % is the moment of compaction. Only whole cells are filled: a bar
never shows more than was reached. No imports: the status line uses this.
"""

CELLS = 10
COMPACTION_PERCENT = 16.5  # what the host keeps free, unless the person moved the limit
DEFAULT_WINDOW = 1_000_000

# Below this percentage the level is shown; the last one has no limit.
LEVELS = ((50, "calm"), (65, "filling"), (80, "high"))
FULL = "full"


def cells(percent: int) -> str:
    """Ten cells, of which each stands for a full tenth."""
    filled = percent // CELLS
    return "█" * filled + "░" * (CELLS - filled)


def reserved_percent(compaction_tokens: int, window_tokens: float) -> float:
    """The part of the window that compaction keeps free; 0 tokens means the host's default."""
    if compaction_tokens <= 0:
        return COMPACTION_PERCENT
    window = window_tokens or DEFAULT_WINDOW
    return min(100.0, max(0.0, (1 - compaction_tokens / window) * 100))


def used_percent(remaining: float, reserved: float) -> int:
    """How much of the usable window is taken, rounded half up, when this much is left of all."""
    usable = 100 - reserved
    left = max(0.0, (remaining - reserved) / usable * 100) if usable else 0.0
    return min(100, int(max(0.0, 100 - left) + 0.5))


def level_of(used: int) -> str:
    """How much attention a percentage deserves."""
    return next((level for limit, level in LEVELS if used < limit), FULL)


def short_count(tokens: float) -> str:
    """A number of tokens in a few characters: 950, 156k, 1.2M."""
    if tokens >= 1_000_000 or int(tokens / 1000 + 0.5) >= 1000:
        # A tie goes up; Python's own rounding would send it to the even digit.
        is_tie = tokens % 500_000 == 250_000
        return f"{(tokens + is_tie) / 1_000_000:.1f}M"
    if tokens >= 1000:
        return f"{int(tokens / 1000 + 0.5)}k"
    return f"{tokens:g}"
