"""What the reader can operate: live figures, steppers and quiz cards. The only place that loads ipywidgets."""


def look():
    """The book's styles for a notebook: put it at the end of the first cell. The built site has them already."""
    from gpuscale.display import Html
    from gpuscale.widgets import assets

    return Html(f"<style>{assets.style()}</style>", "styles of the book")
