"""Users' own assignors: a process for each call, with limits that the machine keeps."""
