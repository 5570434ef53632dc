"""STATE.md: the digest that people and agents read first.

`fields` is the table of its fields; reading (`recorded`), `state get` and `state set` (`values`),
the digest and the merge driver follow it. `edits` has one pure function per event, `digest` the
derived texts, `contradictions` the fields that cannot be true, `gate_rules` the gate of a task.

An edit changes only its own span, a person's words stay, and nothing here touches the disk or
reads the clock. `headline` is the status line's reader and imports almost nothing. Start in
`fields.py`, then read `edits.py`.
"""
