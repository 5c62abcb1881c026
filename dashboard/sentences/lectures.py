"""Words of lectures: their list, a lecture to read, as a deck and on paper, and the editor for one's own."""

from django.utils.translation import gettext_lazy as _

LECTURES = {
    "lecture.title": _("Lectures"),
    "lecture.sub": _(
        "About 45 minutes each: to read alone, to give from a deck, or to print. Every picture is a "
        "frame of a lesson, which one press opens live."
    ),
    "lecture.line": _(
        "Slides, speaker notes and questions around the lessons of each chapter, 45 minutes each."
    ),
    "lecture.of_chapter": _("Lecture, 45 minutes"),
    "lecture.open_list": _("Open the lectures"),
    "lecture.slides": _("{count} {count?slide|slides}"),
    "lecture.minutes": _("{minutes} min"),
    "lecture.planned": _("Starts at minute {from}, takes {minutes}"),
    "lecture.read": _("Read"),
    "lecture.deck": _("Deck"),
    "lecture.paper": _("Print"),
    "lecture.paper_notes": _("Print with notes"),
    "lecture.file": _("Its Markdown file"),
    "lecture.change": _("Change it in the editor"),
    "lecture.way": _("Slides"),
    # A slide
    "lecture.step": _("frame {frame} of {of}, at {time}"),
    "lecture.play": _("Play it here"),
    "lecture.still": _("Back to the slide"),
    "lecture.play_key": _("Play the slide’s picture, or back to the slide"),
    "lecture.live": _("Open this step live"),
    "lecture.new_tab": _("(opens in another tab)"),
    "lecture.question": _("Question"),
    "lecture.answer": _("Show the answer"),
    "lecture.answer_is": _("Answer: {letter}"),
    "lecture.notes": _("Speaker notes"),
    "lecture.no_notes": _("This slide has no notes."),
    # The deck
    "lecture.back": _("Previous slide"),
    "lecture.next": _("Next slide"),
    "lecture.place": _("Slide {number} of {count}"),
    "lecture.first": _("First slide"),
    "lecture.last": _("Last slide"),
    "lecture.notes_window": _("Speaker notes in a window of their own"),
    "lecture.notes_blocked": _("The browser opens no window; the notes are below the slide. N hides them."),
    "lecture.show_answer": _("Show or hide the answer"),
    "lecture.elapsed": _("{time} since the deck was opened"),
    "lecture.coming": _("Next: {title}"),
    "lecture.leave": _("To the text"),
    # Paper
    "lecture.about_paper": _("A4; each slide stays in one piece. With notes it has the answers, too."),
    "lecture.back_to": _("Back to the lecture"),
    # One's own
    "lecture.own": _("Write your own lecture"),
    "lecture.own_line": _("Markdown with steps of lessons in it; this site keeps nothing."),
    "lecture.own_sub": _(
        "A lecture is a Markdown file: # is its title, ## begins a slide. Lines that begin with ::: put lessons, "
        "questions, minutes and speaker notes into it."
    ),
    "lecture.own_text": _("Text of the lecture"),
    "lecture.back_to_text": _("Back to the text"),
    "lecture.directives": _("What a line that begins with ::: can say"),
    "lecture.about.minutes": _("how long the slide takes"),
    "lecture.about.lesson": _(
        "a frame of a lesson, which opens live; the lesson's name is in its address under Learn"
    ),
    "lecture.about.question_of": _("the question that the lesson asks at this frame, with its answers"),
    "lecture.about.question": _(
        "a question of your own: the lines below it, then one line for each answer, then the reason; ::: closes it"
    ),
    "lecture.about.notes": _("speaker notes: the lines below it; ::: closes them"),
}
