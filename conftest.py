"""nbval runs the notebooks as they are stored: figures as text digests."""

import os


def pytest_configure():
    os.environ["GPUSCALE_DIGEST"] = "1"
