"""What a formula is: its value, its evaluation, its derivation and proof, and how the page shows it."""

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
