"""Lessons: courses, the player, the page to print, and the one to write lessons on."""
