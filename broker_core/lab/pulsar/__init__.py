"""A Pulsar lane: one broker with one subscription of any of the four types, under the lab's workload.

lane.py      builds the world and carries out a person's verbs        options.py, sticky_join.py
reading.py   what a picture asks of the nodes' states                 active.py, shared_reading.py: by subscription type; owners.py
narrator.py  the lane's sentence                                      types.py, moves.py, batches.py
facts.py     what the check of a command may know                     views/: panels of its own page
"""
