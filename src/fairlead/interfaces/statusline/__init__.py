"""The status line: one line about the project for the host agent's terminal.

Reads the host's JSON from stdin, one STATE.md and config.json, and prints one line. The host runs
it several times a minute, so it imports only the modules listed in
`tests/architecture/test_statusline.py`, and every problem costs only its own part of the line.
Installed settings refer to `__main__.py` by path. Start reading in `line.py`.
"""
