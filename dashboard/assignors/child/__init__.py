"""The process in which a user's assignor runs. It shares nothing with the project, and is started by
`runner.py` as a folder of its own."""
