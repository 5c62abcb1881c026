"""Lessons: a scenario that tells its own story. Captions and orders at their times, and checks, numbers that
the run must show; and goals, which ask the same of any lab until it holds (goal.py).

    a teacher's file ─► lined.py ─► file.py ─► scenario_from_json (lesson.py checks its part) ─► Lab, which holds a LessonRun
    a check's number ─► numbers.py looks it up in the view of a lane          headless: play.py, `manage.py run_scenario`

docs/scenarios.md says how a file is written.
"""
