"""The doors: each parses, makes one call, and shows the result."""
