"""Fabrics of leaf and spine switches with parts removed: their routes, the load on each cable, their cuts."""
