"""Why is it so? What one thing of a lane is now, how its numbers are made up, and what made it so.

    "partition:3" ─► things.py: what it is now, from the nodes' states ─┐
    the lane's turning points, newest first ─► history.py ──────────────┴─► answer.py: {says, sums, since_us, chain}

A thing is a kind and an id. Kinds of every model: lane, consumer, figure, record; of one: its file here. Nothing is
worked out a second time: a number is read where the picture reads it, and is shown as a sum only where its parts
come to it.
"""
