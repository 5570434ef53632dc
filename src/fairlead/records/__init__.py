"""Which file means what: a document read as a value, and a value written into a document."""
