"""Benchmarks: the waiting time for a read and for a durable update.

`python -m bench` compares the installed command with the reference tool and with the bare
interpreter, taking turns in one run. Only ratios are meaningful on a shared machine.
"""
