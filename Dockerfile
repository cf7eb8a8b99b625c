# The web process and the workers; the database is a Postgres of its own (docker-compose.yml). Runs with a read-only root:
# only /tmp, and with the embedded database /var/lib/plumbline, must be writable. `python -m bench.image` carries these steps
# out without an engine and says how large the image is.
FROM python:3.13-slim AS build

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore

RUN python3 -m venv /opt/plumbline

WORKDIR /srv/plumbline

# Before the program, so that a change of the program does not install the dependencies anew.
COPY requirements.lock ./
RUN /opt/plumbline/bin/pip install --no-deps --require-hashes --requirement requirements.lock

COPY pyproject.toml README.md LICENSE ./
COPY app ./app
COPY plumbline ./plumbline
COPY migrations ./migrations
COPY templates ./templates
COPY docs ./docs
COPY static ./static
COPY examples ./examples
COPY bench/licences.py ./bench/licences.py
RUN /opt/plumbline/bin/pip install --no-deps --no-build-isolation .

# What is needed to build and test but not to run; then what everything that stays is licensed under.
RUN /opt/plumbline/bin/pip uninstall --quiet --yes editables hatchling pathspec pluggy trove-classifiers \
    && /opt/plumbline/bin/python bench/licences.py /opt/plumbline/LICENCES.txt \
    && rm -rf /opt/plumbline/lib/python3*/site-packages/pip /opt/plumbline/lib/python3*/site-packages/pip-* /opt/plumbline/bin/pip* \
    && find /opt/plumbline/lib -depth -type d \( -name tests -o -name include \) -exec rm -rf {} + \
    && find /opt/plumbline/lib \( -name '*.a' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.pyi' \) -delete \
    && /opt/plumbline/bin/python -m compileall -q /opt/plumbline/lib/python3*/site-packages/app

FROM python:3.13-slim

LABEL org.opencontainers.image.title=plumbline \
    org.opencontainers.image.version=0.2.0.dev0 \
    org.opencontainers.image.licenses=Apache-2.0

# A font for pictures that are saved as PNG, and Debian's programs for backups of Postgres 17; those of 16, which serve 15
# too, and of 18 come with plumbline.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends fonts-dejavu-core postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*

# An unprivileged user, who owns nothing of the program and only the folder of an embedded database.
RUN groupadd --system --gid 10001 plumbline \
    && useradd --system --uid 10001 --gid plumbline --home-dir /nonexistent --shell /usr/sbin/nologin plumbline \
    && install --directory --owner=plumbline --group=plumbline --mode=0700 /var/lib/plumbline

COPY --from=build /opt/plumbline /opt/plumbline

USER 10001:10001

# Compiled loops are kept in /tmp, the one folder that is writable in every deployment.
ENV PATH=/opt/plumbline/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CACHE_DIR=/tmp/numba \
    PLUMBLINE_HOST=0.0.0.0 \
    PLUMBLINE_PORT=8000 \
    PLUMBLINE_LOG_FORMAT=json \
    PLUMBLINE_DATA_DIR=/var/lib/plumbline

EXPOSE 8000

HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]

ENTRYPOINT ["plumbline"]
CMD ["serve"]
