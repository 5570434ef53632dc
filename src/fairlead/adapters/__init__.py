"""Who does it: one module for each thing outside this program."""
