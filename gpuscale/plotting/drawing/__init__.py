"""How figures are drawn: sheet, layout, labels, ticks and colors, to SVG that follows the page's theme."""
