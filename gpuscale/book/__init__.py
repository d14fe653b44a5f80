"""How the book is made: notebooks are run and kept in normal form; the site is built, pruned and measured."""

import sys

# jsonschema, by which every process reads notebooks, would compile 38 grammars of addresses: 1.5 s, and none is checked.
sys.modules.setdefault("rfc3987_syntax", None)
