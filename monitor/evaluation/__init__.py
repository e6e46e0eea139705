"""One turn of the evaluator: is anything drifting, is any threshold exceeded.

Pure of SQL: it reads and writes through `ports`. `turn` is the page to start with; `references`
says which calibration a series is held to, `following` takes new records into an e-detector,
`windows` compares the current window, `drifting` makes findings of the three, `limits` are numbers
for quantiles of a reference, `thresholds` takes every breach one step further.
"""
