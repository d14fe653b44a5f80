"""Questions that grade themselves, on the page and in the notebook.

    from gpuscale.quiz import ask, check
    ask("hardware.3")              # shows the card
    check("hardware.3", "65 us")   # the verdict, with its reason

The questions are data: modules under ``exercises/``, each with one ``questions = QuestionSet(...)``.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    cards="ask quiz score",
    checking="Result check",
    checks="check_question",
    question="Question QuestionError",
    book_score="scoreboard",
    question_sets="QuestionSet UnknownQuestion item load_set sets",
    mistakes=(
        "Times bits_for_bytes both_directions bytes_for_bits fma_twice gb_for_gib gib_for_gb mb_for_mib "
        "mib_for_mb one_direction result_times with_sparsity without_fma"
    ),
)
