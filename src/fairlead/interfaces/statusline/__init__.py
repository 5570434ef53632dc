"""The status line: reads what the host says and one STATE.md, prints one line, starts fast."""
