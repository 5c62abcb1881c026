"""A lab's settings as a form: what it shows (`fields.py`), the same as texts that make the lab (`texts.py`), and what of
it changes a lab that runs (`changes.py`). Bounds and defaults are the core's (broker_core/lab/settings.py)."""
