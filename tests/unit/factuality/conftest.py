"""The embedded spaCy pipeline, loaded once."""

import pytest

from monitor.embedding.language import load_language


@pytest.fixture(scope="session")
def language():
    return load_language()
