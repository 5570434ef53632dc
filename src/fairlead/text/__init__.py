"""Text that survives: reading and editing Markdown, frontmatter and JSON in place.

Knows nothing of this product. Every function takes text and returns text or values; an edit
changes its own span and no other byte.
"""
