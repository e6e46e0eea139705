"""Names by their parts: what a document supports and what it does not, decided by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.factuality.names import NameIndex

DOCUMENT = """
Barack Obama met Michelle Jones-O'Neill and George W. Bush at the University of Oxford.
The World Health Organization said that the United States, France and Denmark agreed.
John Smith and Mary Brown of the EU left for São Paulo. Who wrote to the Republicans?
Apollo 11 landed; FIFA's officials told us nothing. Manchester City Council met Dr. House.
"""


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Barack Obama", True),
        ("Obama", True),
        ("President Obama", True),
        ("Obama's", True),
        ("BARACK OBAMA", True),
        ("George Bush", True),
        ("George W. Bush", True),
        ("O’Neill", True),
        ("Mr House", True),
        ("Smith and Mary Brown", True),
        ("Oxford University", False),
        ("the University of Oxford", False),
        ("WHO", False),
        ("W.H.O.", False),
        ("European Union", False),
        ("US", False),
        ("U.S.", False),
        ("America", False),
        ("American", False),
        ("French", False),
        ("Danes", False),
        ("Sao Paulo", False),
        ("Republican", False),
        ("FIFA", False),
        ("Apollo 11", False),
        ("Manchester City", False),
        ("France, Denmark", False),
        ("The", False),
    ],
)
def test_names_of_the_document_are_supported(name, person):
    """A surname, a title, an acronym or a demonym is no invention."""
    assert NameIndex(DOCUMENT).supports(name, person=person)


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Angela Merkel", True),
        ("Donald Obama", True),
        ("Barack Smith", True),
        ("John Brown", True),
        ("Obama Barack", True),
        ("Smith and Merkel", True),
        ("University of Cambridge", False),
        ("University of Denmark", False),
        ("Germany", False),
        ("German", False),
        ("NATO", False),
        ("Apollo 12", False),
        ("France, Sweden", False),
        ("Manchester United", False),
        ("World Trade Organization", False),
        ("Barack Obama's House of Commons", False),
    ],
)
def test_names_that_the_document_does_not_hold_are_not_supported(name, person):
    """Also where every part is there, but not together."""
    assert not NameIndex(DOCUMENT).supports(name, person=person)


def test_acronym_is_no_small_word():
    """ "who" and "us" do not support WHO and US."""
    index = NameIndex("The man who told us left.")
    assert not index.supports("WHO")
    assert not index.supports("US")


def test_text_without_capitals_is_read_without_them():
    """Tokenized corpora and chats are all small."""
    assert NameIndex("barack obama spoke to the who in geneva").supports("WHO")


def test_name_inside_a_script_without_blanks():
    """Words are not separated in Chinese or Japanese."""
    index = NameIndex("昨日東京で会議が開かれた。")
    assert index.supports("東京")
    assert not index.supports("大阪")


def test_empty_document_supports_no_name():
    """Nothing is found in nothing."""
    assert not NameIndex("").supports("Obama")


words = st.lists(
    st.sampled_from(
        ["John", "WHO", "us", "US", "the", "of", "O'Neill", "Müller", "and", "U.S.", "11", "東京"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(words | st.text(max_size=20), words)
def test_a_name_copied_from_the_document_is_supported(name, rest):
    """The guarantee behind "a copied sentence is never reported"."""
    assert NameIndex(f"{rest} {name} {rest}").supports(name)
