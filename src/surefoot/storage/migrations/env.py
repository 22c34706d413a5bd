"""What Alembic runs to bring a database up to date, on the connection that `maintenance` hands it."""

from alembic import context

from surefoot.storage.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,  # on SQLite too, since the transaction is begun by hand: all of it or nothing
)
with context.begin_transaction():
    context.run_migrations()
