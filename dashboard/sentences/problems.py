"""Words of what a study says about the rows of a file: how they were read, and what is wrong with which, by the codes
of broker_core/pipeline/sources/problems.py."""

from django.utils.translation import gettext_lazy as _

PROBLEMS = {
    "study.bad_rows": _("{bad} {bad?row|rows} could not be read and {bad?is|are} not counted."),
    "study.bad_rows_many": _(
        "{bad} of {all} rows ({share}) could not be read and are not counted: the result is of the others."
    ),
    "study.decoded": _("The file is {encoding}; keys are hashed as the UTF-8 that a producer would send."),
    "study.null_like": _(
        "One of the hottest keys is {key}. If that means no key, name it as a null word and run the study again."
    ),
    "problem.wrong_columns": _(
        "{rows} {rows?row ends|rows end} before the column of the key (line {lines})."
    ),
    "problem.open_quote": _(
        "{rows} {rows?row has|rows have} a quotation mark that is never closed (line {lines})."
    ),
    "problem.text_behind_quote": _(
        "{rows} {rows?row has|rows have} text after a closing quotation mark (line {lines})."
    ),
    "problem.bad_json": _("{rows} {rows?row is|rows are} not JSON (line {lines})."),
    "problem.no_object": _("{rows} {rows?row is|rows are} JSON, but not an object (line {lines})."),
    "problem.bad_utf8": _("{rows} {rows?row is|rows are} not UTF-8 (line {lines})."),
    "problem.in_array": _(
        "In {rows} {rows?row|rows} the key is inside an array, which may hold several (line {lines})."
    ),
    "problem.bad_batch": _("{rows} {rows?batch|batches} of records {rows?is|are} damaged (byte {lines})."),
    "problem.bad_time": _(
        "The time of {rows} {rows?record|records} cannot be read; {rows?it counts|they count} without one "
        "(line {lines})."
    ),
    "problem.bad_size": _(
        "The size of {rows} {rows?record|records} cannot be read; {rows?it counts|they count} as 0 bytes "
        "(line {lines})."
    ),
    "problem.size_rounded": _(
        "The size of {rows} {rows?record|records} is rounded to whole bytes (line {lines})."
    ),
    "problem.short_row": _(
        "{rows} {rows?record has|records have} fewer fields than there are columns; what is missing is unknown "
        "(line {lines})."
    ),
    "problem.long_row": _(
        "{rows} {rows?record has|records have} more fields than there are columns; the rest is left out "
        "(line {lines})."
    ),
    "problem.null_word": _(
        "{rows} {rows?record has|records have} a null word as the key, so no key (line {lines}). "
        "Null words: {words}."
    ),
    "study.bad_rows_show": _("Show the first of them"),
    "study.bad_rows_link": _("All of them (CSV)"),
    "bad.line": _("line"),
    "bad.why": _("what is wrong"),
    "bad.text": _("the row"),
    "bad.wrong_columns": _("ends before the column of the key"),
    "bad.open_quote": _("a quotation mark is never closed"),
    "bad.text_behind_quote": _("text after a closing quotation mark"),
    "bad.bad_json": _("is not JSON"),
    "bad.no_object": _("is JSON, but not an object"),
    "bad.bad_utf8": _("is not UTF-8"),
    "bad.in_array": _("the key is inside an array"),
    "bad.bad_batch": _("a batch of records is damaged"),
    "bad.other": _("cannot be read"),
}
