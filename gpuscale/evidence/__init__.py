"""What other engines count: compilers, sockets and PyTorch, each row next to the formula or schedule it is equal to.

``data/ENGINE.toml`` is the one statement of what an engine gave; ``make verify`` runs the engines again.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    engine_settings="settings_by_engine settings_by_symptom",
    pages=("evidence_deviations evidence_engines evidence_filter evidence_labels evidence_rows evidence_summary"),
    serving="serving_bands serving_filter serving_table",
    rows="Deviation Engine EvidenceError Family deviation deviations engine engines families family totals",
)
