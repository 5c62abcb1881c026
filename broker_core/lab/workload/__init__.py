"""The records that all lanes of a lab share: kinds of workloads, what each record's key and payload are, and when it
arrives. `parse.py` reads one from JSON.
"""
