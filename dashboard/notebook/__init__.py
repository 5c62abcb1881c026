"""A lab in a Jupyter notebook, or in any program: run without a site, its figures as DataFrames, its pages in the cell.

    import highwater

    run = highwater.lab("kafka_eager_join")
    run.show()                    the page of the lesson, with timeline, frames, Why and tables, as a capsule has it
    run.consumers(at_s=61)        a row for each consumer of each lane
    run.figures(every_s=1)        skew, lag, what moved, paused, came again: a row for each moment and lane
    run.events()                  what happened, in order

Which class is where: site.py a site of its own in a temporary folder, run.py the lab, widget.py what the cell shows.
"""

from dashboard.notebook.run import Run, lab

__all__ = ["Run", "lab"]
