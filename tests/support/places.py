"""Where things lie in the checkout, for tests in any folder."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
HELPERS = TESTS / "support"
