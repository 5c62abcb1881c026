"""Looking at a lab's past: any moment of it, private to who looks, while the lab's own clock goes on.

    page ─► web: asking.py ─ queue past.<host> ─► its one worker: answering.py ─► the lab at the moment, kept.py
                 ▲                                     │
                 └───────────── Redis ◄────────────────┘ a status and the text of the answer

look.py: what is asked, checked at the field. stepping.py: so many records, messages, events or changes further.
marks.py: what the timeline shows since 0:00. Why it is a process of its own: docs/decisions/where-looking-back-runs.md.
"""
