"""The tests, in the rooms of what they test; what several share is in `tests.cases`.

Garbage is not collected while the tests are imported, a third of the time that takes; tests/fixtures.py begins with it.
"""

import gc

gc.disable()
