"""What the reader can operate: live figures, steppers and quiz cards. The only room that loads ipywidgets."""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    live_figure="explore",
    parts="Bound Call Slider Value View",
    collective="collective_stepper primitive_stepper",
    pipeline="Scheduled pipeline_stage",
    warp="warp_stepper",
    bytes="bytes_stage",
    layer="layer_stage",
    planner="planner_stage",
    rings="Collective ring_stage",
    race="Runner race_stage",
    journey="RoutedCosts journey_stage",
    sms="sms_stage",
    decode="decode_stage",
    scheduler="scheduler_stage",
    serve="serve_stage",
    fabric="fabric_stage",
    powers="Memory powers_stage",
    overview="overview_stage",
    assets="look",
)
