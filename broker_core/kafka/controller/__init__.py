"""The controller as pure state: its requests (controller.py) over what it knows (cluster_metadata.py), and the records
by which brokers learn of a change (records.py)."""
