"""A Kafka lane: a cluster of nodes under the lab's workload, with one consumer group.

lane.py      builds the world and carries out a person's verbs        verbs.py, partition_verbs.py
reading.py   what a picture asks of the nodes' states                 group.py, readers.py: groups
narrator.py  the lane's sentence and what it counts of the brokers    faults.py, acked.py, passed_over.py, ...
facts.py     what the check of a command may know                     views/: panels of its own pages
"""
