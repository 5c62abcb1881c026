"""The producer's program: records gather in batches, batches go to the leaders, answers or time-outs decide
on them.

    send ─► partition ─► accumulator ─► sender ─► ProduceRequest ─► answer ─► acked, sent again, or failed
              partitioner   batches       sequences, transaction        `Deliveries` hears of each record once

`node.py` is the node; the rules stand beside it, a file each.
"""
