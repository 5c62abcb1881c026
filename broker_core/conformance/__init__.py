"""Recorded answers of the real systems against the core: one adapter per kind of vector file.

Run it with `python -m broker_core.conformance PATH...`; docs/conformance.md says what it prints and when it
fails.
"""
