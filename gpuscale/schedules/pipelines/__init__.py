"""Pipelines as schedules: the order of forward and backward passes, and the timetable that follows."""
