"""Faults that strike a method of a run: which one (`fault.py`), how often it has struck (`book.py`), what it does
(`broker.py`), and what comes later of it (`timer.py`).

    method ─► the first fault that it meets ─► refused, late, lost, its connection closed, the server crashed ...
"""
