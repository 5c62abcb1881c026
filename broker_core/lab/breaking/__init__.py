"""Break it for me: a promise about a lane, what may happen to it, and a search for the shortest schedule that breaks it.

    a file, a form ─► Case (case.py): a scenario of one lane, a Promise (promise.py), what may happen (allowance.py)
    Search (search.py): draw a schedule ─► attempt.py plays it in a lab ─► broken? ─► shrinking.py ─► moment.py: when it broke

Nothing is estimated: each try is a lab of its own, whose orders are ordinary commands. docs/break.md says how a file is written.
"""
