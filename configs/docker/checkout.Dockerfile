# An image with pnono from a checkout, for processors that no wheel serves: warm-up makes the machine code, once, as the
# user who will need it. Build it on a machine with the processor that it will run on.
#
#     docker build -f configs/docker/checkout.Dockerfile -t pnono .
#     docker run --rm -v "$PWD:/data" pnono run --workers 8 --out /data/runs/first /data/puzzles

FROM python:3.12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends lld \
    && rm -r /var/lib/apt/lists/*
WORKDIR /opt/parallel_nono
COPY . .
RUN pip install --no-cache-dir -e .
RUN useradd --create-home solver
USER solver
RUN pnono warm-up
WORKDIR /data
ENTRYPOINT ["pnono"]
