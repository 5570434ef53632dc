"""Lossless reading and editing of Markdown, YAML frontmatter and JSON.

This package knows nothing about Fairlead. The rule: an edit changes only its own span, and
every other byte stays as it was. Doubtful text is refused instead of guessed.

Start reading with `document`. The `fast_*` modules, `yaml_subset`, `yaml_scalars`, `lines` and
`printable` load quickly, because the status line and the hooks use them.
"""
