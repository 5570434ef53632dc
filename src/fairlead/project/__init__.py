"""Project memory: the documents under `.planning/` and what can be derived from them.

`roadmap` reads and edits ROADMAP.md. `derive` scans the folder and computes progress, position and
the next step. `state` reads and writes STATE.md. `health` compares the documents with the files
and repairs them. The modules on top of these are the services: `events`, `phases`, `milestones`,
`sessions`, `memory` and `overview`; their common base is `service`.

Imports go in that order, and the rule is: the files decide. No number is taken from a document
that can be counted on disk. Start in `derive/inventory.py`, then `service.py`, then `events.py`.
"""
