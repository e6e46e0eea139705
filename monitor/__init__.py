"""hss-monitor: a sidecar that scores live text summarization for hallucination severity.

The pipeline in ten lines:

1. `ingest` reads live traffic (OTLP, HTTP, logs) and cuts the document out of each prompt;
2. `sampling` picks the records to score, with a known probability π;
3. `storage` keeps them in a durable queue, from which scorers lease them;
4. `perturbation` rewords a document K times without changing its meaning;
5. `summarization` summarizes each version, by replaying the captured request or by a model;
6. `embedding` turns each summary into a distribution of sentence vectors;
7. `scoring` measures how far each one moved, D_k = W₁(μ_y₀, μ_y_k), and normalizes by a frozen
   reference: HSS = (1/K) Σ min(D_k / M_c, 1);
8. `attribution` and `factuality` say why, and what the document does not support;
9. `drift` and `breaches` decide whether something changed that is worth waking somebody for;
10. `exporter` and `investigate` tell Prometheus, Grafana and the person on call.
"""

__version__ = "0.1.0"
