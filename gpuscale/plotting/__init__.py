"""Static figures of the book: curves, rooflines, ladders, bars, block diagrams and networks as inline SVG.

Labels, units and titles come from the quantities; colours are meanings; each figure is drawn for a wide and for a
narrow column and shows itself as HTML, or as a text digest under GPUSCALE_DIGEST=1. ``Axis`` and ``Curve`` describe
live figures as well.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    bar_chart="Bars bars",
    boxes="Block blocks",
    curve_chart="curves",
    ladder_chart="Rung ladder",
    pipelines="gantt_figure",
    rooflines="Roof roofline",
    tori="node_figure torus_figure",
    trees="network_figure",
    **{
        "drawing.axis": "Axis",
        "drawing.chart": "Chart Crossing Curve Note Points Region",
        "drawing.figure": "Still",
    },
)
