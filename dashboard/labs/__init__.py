"""Labs on the web's and the worker's side.

services  selectors      every write and every read of the web side; forks; foresight: what is known of a command at once
tasks  shards  shard     the worker: one task drives a shard's labs, turn by turn; pace, stopping, sharing
driver  writes           one lab's runner, and what it stores, each write conditional on the lease's epoch
frames  feed  transport  what a browser learns, carried by Redis
"""
