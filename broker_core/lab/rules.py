"""The version of the rules that a lab's course follows from: the models, the network, the workload, how a
command takes effect.

Raise it in the commit that changes what a replay of some journal gives: another order, another time, another
owner. A lab's row keeps the version that it was made under; a page says so when today's is another
(docs/decisions/rules-have-a-version.md). What only tells more of the same course, or tells it otherwise,
raises nothing.
"""

RULES_VERSION = 8
