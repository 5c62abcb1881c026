"""The broker core: deterministic, pure models of four message queues and the lab that runs them side by
side."""
