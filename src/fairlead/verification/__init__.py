"""Verification: rules that detect a false "done", the verifier, and plans that close gaps.

The rule of this package: only code decides the status of a phase. A model may review the phase
as well; it can add findings and questions, and remove nothing. A phase without any check never
passes.

Start with `service.py` (`Verifier`: load, preview, verify) and `inspection.py`, which compares
the promises of the plans with the evidence. The rules are one module each: `stubs`,
`empty_tests`, `placeholders`, `usage` (unused or unconnected files) and `claims` (of summaries).
A new rule is a function that returns `RuleFinding` values, called from `inspection.py`, with a
case in `tests/corpus/done-false.md` and its honest counterpart in `done-honest.md`.
"""
