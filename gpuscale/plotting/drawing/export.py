"""A chart of the book on matplotlib's Axes, for a figure of one's own: a paper, a slide, a PDF."""

from gpuscale.plotting.drawing import ink, layout


def axes(chart, ax=None):
    """Draws a chart's curves, dots, areas and crossings on ``ax`` (default: new Axes) and returns it.

    Data are in base units; scales, limits, titles and ticks are those of the chart. Labels go into the legend.
    """
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, NullFormatter

    ax = ax or pyplot.subplots(layout="constrained")[1]
    for curve in chart.curves:
        style = layout.STYLES[curve.style]
        line = {"color": _colour(curve.hue), "linewidth": style["weight"], "label": _label(curve)}
        ax.plot(*curve.formula, linestyle=(0, style["dash"]) if "dash" in style else "-", **line)
    for dots in chart.dots:
        rim = _colour(dots.hue)
        face = rim if dots.solid else "none"
        ax.plot(*dots.data(), "o", markeredgecolor=rim, markerfacecolor=face, label=_label(dots))
    for x, y, hue, strength in chart.areas:
        ax.fill(x, y, color=_colour(hue), alpha=strength, linewidth=0)
    for crossing in chart.crossings:
        ax.axvline(crossing.x, color=_colour("plain"), linewidth=0.8, linestyle=":")
    for axis, side in ((chart.x, "x"), (chart.y, "y")):
        scale = "log" if axis.log else "linear"
        ax.set(**{f"{side}scale": scale, f"{side}lim": (axis.lo, axis.hi), f"{side}label": axis.heading})
        ticks = getattr(ax, f"{side}axis")
        ticks.set_major_formatter(FuncFormatter(lambda value, _, axis=axis: axis.tick(value)))
        ticks.set_minor_formatter(NullFormatter())
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False)
    return ax


def _colour(hue: str) -> str:
    return ink.printed(ink.paint("plain" if hue == layout.AUTO else hue, "line"))


def _label(thing) -> str:
    return ink.bare(thing.label) or "_nolegend_"
