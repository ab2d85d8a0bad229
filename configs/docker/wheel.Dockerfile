# An image with pnono from a wheel: machine code comes with it, so it has neither compiler nor Numba, and starts at once.
#
#     docker build -f configs/docker/wheel.Dockerfile -t pnono .
#     docker run --rm -v "$PWD:/data" pnono run --workers 8 --out /data/runs/first /data/puzzles

FROM python:3.12-slim AS build
WORKDIR /src
COPY . .
RUN pip wheel --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -r /wheels
RUN useradd --create-home solver
USER solver
WORKDIR /data
ENTRYPOINT ["pnono"]
