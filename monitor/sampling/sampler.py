"""Consistent probability sampling: every replica picks the same records, without talking."""

from __future__ import annotations

import hashlib

from monitor.errors import ConfigurationError, MalformedInput
from monitor.records import IncomingRecord, SamplingDecision, SamplingEpoch, Stratum

BITS = 53
"""Of the hash that are used: a double holds them exactly, so 1.0 is never reached."""


class ConsistentSampler:
    """Keeps a record where u(trace id) < rate of its stratum.

    u = BLAKE2b-64(key from the salt, trace id or else record id) / 2⁶⁴ is uniform in [0, 1) and
    depends on nothing else, so

    - all replicas with the same salt and epoch decide alike, and so does a repeated record;
    - the records of one trace and stratum are kept or dropped together (estimates of the
      variance cluster by trace);
    - picks are nested: a higher rate keeps all that a lower one kept.

    OpenTelemetry's consistent samplers compare the trace id's own last 56 bits (or `rv`)
    with a threshold. Had we used those bits too, a trace that passed upstream at 10 % would
    pass our 10 % always, and the joint probability would be the smaller of the two. The
    salt makes the two decisions independent, so the inclusion probability is the product
    π = own rate × upstream probability. Kept secret, it also keeps senders from choosing
    trace ids that are never sampled.
    """

    def __init__(self, *, salt: str, epoch: SamplingEpoch) -> None:
        """`salt` is the same on all replicas; raises `ConfigurationError` where it is empty."""
        if not salt:
            raise ConfigurationError("sampling.salt: empty; set any text, the same on all replicas")
        self._key = hashlib.blake2b(salt.encode("utf-8"), digest_size=32).digest()
        self._epoch = epoch

    @property
    def epoch(self) -> SamplingEpoch:
        """The epoch whose rates apply."""
        return self._epoch

    def use(self, epoch: SamplingEpoch) -> None:
        """Apply another epoch from the next record on; one assignment, safe in any thread."""
        self._epoch = epoch

    def decide(self, record: IncomingRecord) -> SamplingDecision:
        """Sampled or not, as a pure function of (trace id or id, stratum, epoch).

        The stratum is service × model × the category known on arrival (empty without one).

        Raises `MalformedInput` for an upstream probability outside (0, 1].
        """
        if not 0.0 < record.upstream_probability <= 1.0:
            raise MalformedInput(
                "upstream_probability",
                f"{record.upstream_probability!r} is not in (0, 1]",
                "leave it out where the sender does not sample",
            )
        epoch = self._epoch
        stratum = Stratum(
            service=record.service, model=record.model, category=record.category or ""
        )
        rate = epoch.rate(stratum)
        return SamplingDecision(
            sampled=uniform(record.trace_id or record.id, self._key) < rate,
            stratum=stratum,
            probability=rate * record.upstream_probability,
            epoch=epoch.number,
        )


def uniform(identity: str, key: bytes) -> float:
    """u in [0, 1) with 53 random bits: a keyed hash of a trace id or record id.

    At rate 1 everything is kept, at rate 0 nothing.
    """
    digest = hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8, key=key)
    return (int.from_bytes(digest.digest(), "big") >> (64 - BITS)) / float(1 << BITS)
