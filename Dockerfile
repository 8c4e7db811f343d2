# The program as an image: `docker build --tag rebalance-explorer .`, with Spark and a Java: `--target pipeline`.
# How to run it: docs/how-to/run-in-containers.md, and compose.yaml beside this file.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
ENV UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN pip install --no-cache-dir uv==0.13.8
WORKDIR /source
COPY pyproject.toml uv.lock ./
# The locked packages before the program: a change of the program alone does not install them again.
RUN uv export --quiet --frozen --no-default-groups --extra metrics --extra oidc --no-emit-project --output-file /tmp/packages.txt \
    && uv venv --quiet /opt/rebalance-explorer \
    && uv pip install --quiet --python /opt/rebalance-explorer --require-hashes --requirement /tmp/packages.txt
COPY README.md LICENSE ./
COPY docs docs
COPY explorer explorer
COPY groups groups
COPY simulations simulations
COPY templates templates
COPY static static
RUN uv build --quiet --wheel --out-dir /tmp/wheel \
    && uv pip install --quiet --python /opt/rebalance-explorer --no-deps /tmp/wheel/rebalance_explorer-*.whl \
    && /opt/rebalance-explorer/bin/python -m compileall -q /opt/rebalance-explorer

FROM build AS build-pipeline
RUN uv export --quiet --frozen --no-default-groups --extra metrics --extra oidc --extra pipeline --no-emit-project --output-file /tmp/packages.txt \
    && uv pip install --quiet --python /opt/rebalance-explorer --require-hashes --requirement /tmp/packages.txt

FROM python:${PYTHON}-slim-bookworm AS base
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin explorer \
    && install --directory --owner explorer --group explorer --mode 0700 /var/lib/rebalance-explorer
# All that is written lies in REBALANCE_VAR or in /tmp, so the root file system may be read-only.
ENV PATH=/opt/rebalance-explorer/bin:${PATH} REBALANCE_VAR=/var/lib/rebalance-explorer HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 LOGIN=password
WORKDIR /var/lib/rebalance-explorer
VOLUME /var/lib/rebalance-explorer
EXPOSE 8000
# Of a server; compose.yaml turns it off for workers, which answer nobody.
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s CMD ["python", "-c", \
    "import urllib.request as r; r.urlopen('http://localhost:8000/readyz', timeout=8)"]
ENTRYPOINT ["rebalance-explorer"]
CMD ["serve", "--host", "0.0.0.0"]

FROM base AS pipeline
COPY --from=build-pipeline /opt/rebalance-explorer /opt/rebalance-explorer
USER 10001

FROM base AS web
COPY --from=build /opt/rebalance-explorer /opt/rebalance-explorer
USER 10001
