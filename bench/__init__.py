"""Benchmarks: how long a person waits for a read and for a durable update.

`python -m bench` compares, in one run and taking turns, the installed command with the reference
tool and with the bare interpreter. Only ratios mean something on a shared machine.
"""
