"""Lectures: Markdown files of slides, with steps of lessons, questions and speaker notes between paragraphs.

`markdown` reads Markdown and makes HTML that holds nothing of an author's but text; `lecture` makes a lecture of it, or
says at which line it is none; `shelf` has those that come along, in `texts/`; `shown` draws one for a page.
docs/lectures.md describes the format.
"""
