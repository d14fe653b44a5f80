"""Static figures of the book: curves, rooflines, ladders, bars, block diagrams and networks as inline SVG.

Labels, units and titles come from the quantities; colors are meanings; each figure is drawn for a wide and for a
narrow column and shows itself as HTML, or as a text digest under GPUSCALE_DIGEST=1. ``Axis`` and ``Curve`` describe
live figures as well.
"""

from gpuscale.faces import face

__getattr__, __dir__ = face(
    __name__,
    bar_chart="Bars bars",
    boxes="Block blocks",
    collectives="holdings_figure hops_figure",
    curve_chart="curves",
    dot_chart="Dot dot_rows",
    double_trees="double_tree_figure",
    hierarchies="entrances_figure rails_figure ring_of_nodes_figure",
    ladder_chart="Rung ladder",
    lane_chart="Lane Span lanes",
    leaf_rails="leaf_rails_figure",
    matmuls="two_clocks",
    number_trees="TreeNode number_tree",
    pipe_chart="Pipe pipes",
    pipelines="gantt_figure",
    processors="chips_figure sectors_figure tile_figure",
    racks="rack_figure",
    reductions="reduction_figure",
    rooflines="Roof roofline",
    routing="routing_figure",
    shards="causal_figure ring_blocks_figure sharded_mlp_figure zero_figure",
    shares="chunks_figure parts_figure slices_figure",
    softmax="running_softmax softmax_figure",
    spanning_trees="tree_figure",
    stack_chart="stacks",
    switch_chip="switch_figure",
    tori="node_figure torus_figure",
    transposes="transpose_figure",
    trees="network_figure",
    **{
        "drawing.axis": "Axis",
        "drawing.chart": "Chart Crossing Curve Note Points Region",
        "drawing.figure": "Still",
    },
)
