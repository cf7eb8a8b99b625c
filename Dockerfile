# The web process and the workers; the database is a Postgres of its own (docker-compose.yml).
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore

# An unprivileged user, who owns nothing of the program and only the folder of an embedded database.
RUN groupadd --system --gid 10001 plumbline \
    && useradd --system --uid 10001 --gid plumbline --home-dir /nonexistent --shell /usr/sbin/nologin plumbline \
    && install --directory --owner=plumbline --group=plumbline --mode=0700 /var/lib/plumbline

WORKDIR /srv/plumbline

# Before the program, so that a change of the program does not install the dependencies anew.
COPY requirements.lock ./
RUN pip install --require-hashes --requirement requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY app ./app
COPY migrations ./migrations
COPY templates ./templates
COPY static ./static
COPY examples ./examples
RUN pip install --no-deps --no-build-isolation --editable . \
    && python -m compileall -q app migrations

USER 10001:10001

ENV PLUMBLINE_HOST=0.0.0.0 \
    PLUMBLINE_PORT=8000 \
    PLUMBLINE_DATA_DIR=/var/lib/plumbline

EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]

ENTRYPOINT ["plumbline"]
CMD ["serve"]
