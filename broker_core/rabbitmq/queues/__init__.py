"""Classic queues: the order of their messages, the turns of their consumers, their arguments and limits."""
