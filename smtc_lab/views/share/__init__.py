"""A result as one HTML file that opens in a browser with no kernel, server or network.

``share`` is what users call. ``shared`` reads a run, a study, a comparison or a plan as a
notebook keeps it, ``hidden`` takes out what must not be handed on, ``thinned`` makes its curves
fewer numbers where the file would be too large, and ``page`` puts all of it, with the front end
that draws it, into one text.
"""
