"""Static figures of the book: curves, rooflines, ladders, bars, block diagrams and networks as inline SVG.

Labels, units and titles come from the quantities; colours are meanings; each figure is drawn for a wide and for a
narrow column and shows itself as HTML, or as a text digest under GPUSCALE_DIGEST=1. ``Axis`` and ``Curve`` describe
live figures as well.
"""

from gpuscale.plotting.bar_chart import Bars, bars
from gpuscale.plotting.block_diagram import Block, Wire, blocks
from gpuscale.plotting.curve_chart import Curve, curves
from gpuscale.plotting.drawing.axis import Axis
from gpuscale.plotting.drawing.chart import Chart, Crossing, Line, Note, Points, Region
from gpuscale.plotting.drawing.figure import Still
from gpuscale.plotting.ladder_chart import Rung, ladder
from gpuscale.plotting.pipelines import gantt_figure
from gpuscale.plotting.rooflines import Point, Roof, roofline
from gpuscale.plotting.tori import node_figure, torus_figure
from gpuscale.plotting.trees import network_figure

__all__ = [
    "Axis",
    "Bars",
    "Block",
    "Chart",
    "Crossing",
    "Curve",
    "Line",
    "Note",
    "Point",
    "Points",
    "Region",
    "Roof",
    "Rung",
    "Still",
    "Wire",
    "bars",
    "blocks",
    "curves",
    "gantt_figure",
    "ladder",
    "network_figure",
    "node_figure",
    "roofline",
    "torus_figure",
]
