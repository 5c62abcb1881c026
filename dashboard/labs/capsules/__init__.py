"""A capsule: a run, or a part of it, as one HTML file that plays offline, drawn by the page's own modules.

    POST ─► orders.py: check, the page as it is served ─► shell.py ─► worker, queue default: recording.py ─► fitting.py ─► one file
                                                                         the run again, a picture at each of moments.py

    <run dir>/capsules/<lab id>/<capsule>.json    what is known of it     .page    the shell     .html    the capsule itself

In the capsule static/js/player/ answers what the page asks of the server. Why it is made like that:
docs/decisions/a-capsule-is-the-page.md.
"""
