"""How figures are drawn: sheet, layout, labels, ticks and colours, to SVG that follows the page's theme."""
