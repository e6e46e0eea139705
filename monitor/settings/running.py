"""Sections about processes: scorers here and on a cluster, and what runs periodically."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from monitor.settings.section import Count, Positive, Section


class Ray(Section):
    """Scorers as actors on a Ray cluster, for `hss-monitor scorer --ray`."""

    address: str | None = Field(
        None,
        description="Cluster of the actors: host:6379 from one of its machines, ray://host:10001 "
        "from elsewhere, or auto (RAY_ADDRESS, else the one on this machine). null: a Ray of its "
        "own, which nothing but this machine reaches.",
    )
    scorers: Count = Field(1, le=1000, description="Scorers (actors) on the cluster.")
    cpus: Positive = Field(1, description="CPUs that Ray sets aside for each.")
    gpus: float = Field(
        0, ge=0, allow_inf_nan=False, description="GPUs for each; 0.5: two share one."
    )

    @model_validator(mode="after")
    def _divisible(self) -> Ray:
        for name, amount in (("cpus", self.cpus), ("gpus", self.gpus)):
            if amount > 1 and amount != int(amount):
                raise ValueError(f"{name} {amount:g}: above 1 Ray takes whole numbers only")
        return self


class Execution(Section):
    backend: Literal["local", "none"] = Field(
        "local", description="Scorers as processes of this sidecar, or none (they run elsewhere)."
    )
    scorers: Count = Field(1, le=1000, description="Scorer processes.")
    lease_seconds: Positive = Field(120, description="A lease not renewed for so long is lost.")
    max_attempts: Count = Field(3, description="Leases after which a record fails.")
    poll_seconds: Positive = Field(0.5, description="Pause of a scorer that found no work.")
    ray: Ray = Ray()


class Scheduler(Section):
    supervise_seconds: Positive = Field(2, description="How often scorers are checked.")
    gauges_seconds: Positive = Field(10, description="How often gauges are refreshed.")
    retention_seconds: Positive = Field(3600, description="How often old rows are erased.")
