# syntax=docker/dockerfile:1
# docker build --target slim   -t devfix .         # check, apply, migrate, bot: without PyTorch
# docker build --target verify -t devfix:verify .  # also verify and trace, with PyTorch for the CPU
# docker run --rm -v "$PWD:/work" --user "$(id -u):$(id -g)" devfix apply .
# The wheel is that of dist/ (pyproject-build).
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS base
# git: --since, bot and migrate. The version is that of the Debian release.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 devfix \
    && git config --system --add safe.directory /work
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
COPY constraints.txt dist/*.whl /tmp/devfix/
ARG REVISION=""
ARG VERSION=""
LABEL org.opencontainers.image.title="devfix" \
      org.opencontainers.image.description="Finds and repairs PyTorch device bugs" \
      org.opencontainers.image.authors="devfix developers" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.url="https://pypi.org/project/devfix/" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.version="${VERSION}"
WORKDIR /work
ENTRYPOINT ["devfix"]
CMD ["--help"]

FROM base AS verify
# without dependencies: those are of the versions that constraints.txt names, which this index may lack
RUN pip install --no-deps torch --constraint /tmp/devfix/constraints.txt --index-url https://download.pytorch.org/whl/cpu \
    && pip install --constraint /tmp/devfix/constraints.txt \
        "$(ls /tmp/devfix/*.whl)[bot,migrate,notebook,report,verify]"
USER 1000

# the last stage is the default
FROM base AS slim
RUN pip install --constraint /tmp/devfix/constraints.txt "$(ls /tmp/devfix/*.whl)[bot,migrate,notebook,report]"
USER 1000
