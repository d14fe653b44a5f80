"""Tools that build the book: notebook normal form, Sphinx extension, page weight."""
