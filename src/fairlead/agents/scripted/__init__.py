"""The scripted agent: a program that replaces a model in rehearsals and tests.

It runs like every other agent (`agents/registry.py`), reads its prompt and works in its folder; nothing
tells it that this is a rehearsal. `program.py` executes and reviews tasks, `roles.py` answers as
the roles of workflows, `council.py` as the members of a council. All answers follow from the
prompt alone. The program is started with an isolated interpreter and imports nothing of Fairlead.
"""
