"""AMQP 0-9-1 as bytes, both directions: `frames.py` cuts bytes into frames, `receiver.py` makes methods of them with
their messages, `sender.py` makes bytes of methods. `spec.py` has every method's fields, `fields.py` and `tables.py`
write and read them, `content.py` a message's properties."""
