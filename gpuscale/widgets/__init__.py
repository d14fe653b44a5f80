"""What the reader can operate: live figures, steppers and quiz cards. The only room that loads ipywidgets."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    live_figure="explore",
    parts="Bound Call Slider Value View",
    collective="collective_stepper primitive_stepper",
    pipeline="pipeline_stepper",
    warp="warp_stepper",
    rings="Collective ring_stage",
    race="Runner race_stage",
    sms="sms_stage",
    assets="look",
)
