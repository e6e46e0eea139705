"""Everything that touches SQL: one schema, two databases.

`engine` opens a database, `tables` and its siblings say what it holds, `schema` keeps them up to
date. `queue` takes records in and hands them to scorers; `repository`, `calibrations` and
`epochs` hold what outlives a record. `series` and `samples` give the evaluator what it judges,
`drift_store` and `breach_store` keep what it found. `queries`, `search` and `detail` answer
readers, `distributions`, `trends` and `overview` draw for them; `retention` and `integrity` look
after size and health. Nothing outside this package and `migrations/` imports SQLAlchemy.
"""
