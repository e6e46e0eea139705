"""Everything that touches SQL: one schema, two databases.

`engine` opens a database, `schema` keeps its tables up to date, `queue` takes records in
and hands them to scorers, `repository`, `calibrations` and `epochs` hold what outlives a
record, `queries` and `detail` answer readers, `retention` and `integrity` look after
size and health. Nothing outside this package and `migrations/` imports SQLAlchemy.
"""
