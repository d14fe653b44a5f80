"""Static figures of the book: curves, rooflines, ladders, bars and block diagrams as inline SVG.

The one place that imports matplotlib (never pyplot). Labels, units and titles come from the quantities;
colours are meanings; each figure is drawn for a wide and for a narrow column and shows itself as HTML, or
as a text digest under GPUSCALE_DIGEST=1.
"""

from gpuscale.plotting.bar_chart import Bars, bars
from gpuscale.plotting.block_diagram import Block, Wire, blocks
from gpuscale.plotting.curve_chart import Curve, Points, curves
from gpuscale.plotting.drawing.figure import Still, still
from gpuscale.plotting.drawing.ink import HUE
from gpuscale.plotting.drawing.sheet import Crossing, Region, axis, note
from gpuscale.plotting.ladder_chart import Rung, ladder
from gpuscale.plotting.pipelines import gantt_figure
from gpuscale.plotting.rooflines import Point, Roof, roofline
from gpuscale.plotting.tori import node_figure, torus_figure
from gpuscale.plotting.trees import network_figure

__all__ = [
    "HUE",
    "Bars",
    "Block",
    "Crossing",
    "Curve",
    "Point",
    "Points",
    "Region",
    "Roof",
    "Rung",
    "Still",
    "Wire",
    "axis",
    "bars",
    "blocks",
    "curves",
    "network_figure",
    "gantt_figure",
    "ladder",
    "node_figure",
    "note",
    "roofline",
    "still",
    "torus_figure",
]
