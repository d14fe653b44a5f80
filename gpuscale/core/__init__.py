"""What a formula is: its value, its evaluation, how it is derived and proved, and its faces on the page."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    formula="Formula",
    evaluation="evaluate inputs",
    derivation="Derivation StepError",
    crossovers="crossover",
    dimension="DimensionError",
    conditions="at_least at_most below divisible nested power_of_two",
)
