#!/bin/sh
# Run by the image of Postgres when its volume is new: the role that serves, beside the owner (POSTGRES_USER).
# `plumbline db upgrade` grants it what it needs.
set -eu
psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --set=password="$RUNTIME_PASSWORD" <<'SQL'
CREATE ROLE plumbline LOGIN PASSWORD :'password';
SQL
