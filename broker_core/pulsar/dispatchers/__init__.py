"""How a subscription's messages find a consumer: one dispatcher for each type.

Exclusive, Failover   single_active.py   one consumer is active, the others stand by
Shared                shared.py          whose turn it is, by permits and priority
Key_Shared            key_shared.py      by key, in order, over cursor.py
"""
