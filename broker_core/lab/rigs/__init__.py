"""The four lanes: each model's broker side with its clients and the lab's timers."""
