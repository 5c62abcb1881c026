"""What the lanes of all four models have in common: `lane.py` is the lane, `model.py` and `reading.py` what it asks
of a model. The other files are observers: what people read of a lane, folded from turning points and traffic
counters. They change nothing of what they see.
"""
