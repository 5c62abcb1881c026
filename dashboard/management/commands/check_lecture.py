"""`python manage.py check_lecture FILE`: whether a Markdown file is a lecture, and its slides. Exit code 2: it is none, with
the line. docs/lectures.md describes the format."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from broker_core.lab.lesson.file import read_file
from broker_core.lab.lesson.file_error import FileError
from dashboard.lectures.lecture import LessonQuestion, LessonStep, OwnQuestion, lecture_from_text
from dashboard.management.files import refuse, wrong_file


class Command(BaseCommand):
    help = "Check a lecture in Markdown; exit code 2, with the line, when it is none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        path = options["file"]
        try:
            lecture = lecture_from_text(read_file(path))
        except FileError as error:
            wrong_file(path, error.line, error.field, error)
        except OSError as error:
            refuse(f"{path}: {error.strerror}")
        parts = [part for slide in lecture.slides for part in slide.parts]
        steps = sum(isinstance(part, LessonStep) for part in parts)
        questions = sum(isinstance(part, LessonQuestion | OwnQuestion) for part in parts)
        self.stdout.write(lecture.title)
        for number, slide in enumerate(lecture.slides, start=1):
            minutes = f"{slide.minutes} min" if slide.minutes else ""
            self.stdout.write(f"{number:>4}  {minutes:>7}  {slide.title}")
        self.stdout.write(
            f"{len(lecture.slides)} slides, {lecture.minutes} min, {steps} steps of lessons, {questions} questions"
        )
