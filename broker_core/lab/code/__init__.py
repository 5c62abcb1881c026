"""The code that ran: the algorithms' own functions, read as they are, with the lines that a call went through and what its
variables were. Nothing is written twice: what is shown is what the lab runs.
"""
