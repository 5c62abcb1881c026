"""Stills: the key frame of each lesson, and each frame of its hand-out, drawn from the numbers that the engine
has at that moment.

`reading` takes the few numbers that a drawing needs out of a lab's view; `record_stills` (a management
command) plays every lesson to its frames and writes them to `recorded.json`, those of the key frames, and
`frames.json`; `drawing` makes an SVG of them, for each request in no time.
"""
