"""How the book is made: notebooks are run and kept in normal form; the site is built, pruned and measured."""

import sys

# jsonschema, by which every process reads notebooks, would compile 38 grammars of addresses, which takes it 1.5 s.
sys.modules.setdefault("rfc3987_syntax", None)
