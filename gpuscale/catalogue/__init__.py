"""Every formula of the library: found by sweeping the rooms, and by searching."""

from gpuscale.faces import face

__getattr__, __dir__ = face(__name__, search="find", sweep="formula formulas")
