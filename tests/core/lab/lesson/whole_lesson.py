"""A file of a lesson with a bit of everything, and the same with one thing edited."""

WHOLE = """\
# A comment.
title = { en = "Two", zh = "二" }
line.en = "One line."
line.zh = "一行。"
lasts_s = 12
consumers = 2

[watch_for]
en = \"\"\"
First,
at_s = 3 is text here.
\"\"\"
zh = "看"

[you_will_learn]
en = "This."
zh = "这个。"

[workload]
kind = "uniform"
keys = 20
rate = 10

[[lane]]
model = "rabbitmq"

[[step]]
at_s = 2
caption.en = "It slows down."
caption.zh = "它变慢。"
do = "slow"
consumer = "c1"
rate = 1

[[step]]
at_s = 5.5
do = "crash"
consumer = "c2"

[[check]]
at_s = 5.5
lane = "rabbitmq"
number = "consumers.c1.capacity"
is = 1
says.en = "records a second"
says.zh = "条每秒"

[[check]]
number = "record_count"
at_least = 100
says.en = "records"
says.zh = "条记录"
"""


def edited(old, new):
    assert WHOLE.count(old) == 1, old
    return WHOLE.replace(old, new)
