"""What every other package builds on: errors, identifiers, clock, processes, threads, settings.

Nothing here knows the product's documents or commands, and nothing imports another package of
Fairlead. `process` is the only module that starts processes, `concurrency` the only one with
threads. Start reading at `errors.py` (one root, one family per exit code), then `values.py` (the
dataclasses used everywhere). This file must contain no code: the status line and the hooks
replace the package.
"""
