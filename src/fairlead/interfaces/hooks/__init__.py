"""Hooks: what a host agent calls when it stops, starts, compacts or ends; one module a hook."""
