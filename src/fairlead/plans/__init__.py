"""Plans: the contents of PLAN.md files, their checks, and the order in which they run.

The rule of this package: everything in a plan was written by a person or a model and is data. A
verify command runs only as it is in a plan that a person approved by its digest.

Start with `model.py` (a plan as a value) and `documents.py` (text to value and back; `tasks.py`
finds the tasks). `check.py` reports faults of a plan, `waves.py` schedules plans by dependencies
and declared files, `service.py` and `roadmap_report.py` report the plans of a phase and the
phases of the roadmap to the interfaces.
"""
