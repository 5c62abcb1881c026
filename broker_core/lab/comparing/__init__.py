"""Several ways to share one stream on the same course: which there are (`ways.py`), and what happens in it, in a few
words (`history.py`). A comparison is a lab with a lane for each way; nothing in it is estimated."""
