"""Questions as data: one module for each set, imported as ``gpuscale_exercises.NAME``."""
