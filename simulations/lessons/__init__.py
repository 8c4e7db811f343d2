"""Lessons: a run, shown in beats, with questions that the run itself answers.

A lesson is one YAML file (``lesson_yaml``). Every number and name in its sentences is a reference (``references``) that is
filled in from the run (``playing``, ``frames``); what the words around them claim is listed with them as facts, which ``checking`` holds
against the run. Questions are answered by the run, and wrong answers explained by what would have to be true
(``questions``, ``explaining``). ``sheets`` puts all of it together for a page.
"""

from simulations.lessons.checking import problems
from simulations.lessons.document import Lesson
from simulations.lessons.lesson_yaml import read_lesson
from simulations.lessons.sheets import Sheet, sheet_of
from simulations.lessons.source import Source
