"""How the book is made: notebooks run and kept in normal form, the site built, pruned and weighed."""
