"""How the book is made: notebooks are run and kept in normal form; the site is built, pruned and measured."""
