"""Static figures of the book: curves, rooflines, ladders, bars and block diagrams as inline SVG.

The one place that imports matplotlib (never pyplot). Labels, units and titles come from the quantities;
colours are meanings; each figure is drawn for a wide and for a narrow column and shows itself as HTML, or
as a text digest under GPUSCALE_DIGEST=1.
"""

from gpuscale.plotting.bar_groups import Bars, bars
from gpuscale.plotting.charts import Curve, Points, curves
from gpuscale.plotting.diagrams import Block, Wire, blocks
from gpuscale.plotting.fabric import fabric_figure
from gpuscale.plotting.figure import Still, still
from gpuscale.plotting.gantt import gantt_figure
from gpuscale.plotting.ink import HUE
from gpuscale.plotting.neighbours import node_figure, torus_figure
from gpuscale.plotting.roofs import Point, Roof, roofline
from gpuscale.plotting.rungs import Level, ladder
from gpuscale.plotting.sheet import Crossing, Region, axis, note

__all__ = [
    "HUE", "Bars", "Block", "Crossing", "Curve", "Level", "Point", "Points", "Region", "Roof", "Still",
    "Wire", "axis", "bars", "blocks", "curves", "fabric_figure", "gantt_figure", "ladder", "node_figure", "note",
    "roofline", "still", "torus_figure",
]  # fmt: skip
