"""Executing the plans of a phase: agents do the tasks, Fairlead checks and lands their work.

Rule: `decide` is pure and sees only a snapshot of the disk; `perform` does one action and returns
nothing. An agent's report is a claim: only a verify command that Fairlead ran itself, and a verdict
that carries the nonce of its call, move a task forward.

Start with `service.py` (preview, approve, run), then `loop.py`, `snapshot.py` (disk to values),
`decide.py` (values to actions), `perform.py` (one action) and `judge.py` (what a result means).
`landing.py` merges and proves finished plans; `tamper_check.py` finds what agents may not change.
"""
