"use strict";

// The data: base64 of deflated bytes: length of a JSON header, header, then columns as numbers (see `pack.py`).
async function readData() {
  const text = document.getElementById("data").textContent.trim();
  const raw = atob(text);
  const packed = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) packed[i] = raw.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const kinds = { u1: Uint8Array, i4: Int32Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
  const columns = {};
  for (const [name, kind, start, count] of header.columns) columns[name] = new kinds[kind](buffer, start, count);
  return { ...header, columns };
}

function duration(seconds) {
  if (!(seconds >= 0)) return "";
  const digits = (value, unit) => `${Number(value.toPrecision(3))} ${unit}`;
  if (seconds < 1e-3) return seconds < 999.5e-6 ? digits(seconds * 1e6, "us") : "1 ms";
  if (seconds < 1) return seconds < 0.9995 ? digits(seconds * 1e3, "ms") : "1 s";
  if (seconds < 100) return digits(seconds, "s");
  const minutes = Math.floor(Math.round(seconds) / 60), rest = Math.round(seconds) % 60;
  return minutes < 60 ? `${minutes} min ${String(rest).padStart(2, "0")} s`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

const count = (n) => n.toLocaleString("en");

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// Plots: each is an element and a function that gives the options of ECharts in the colours of the moment.
const plots = [];

function addPlot(id, options) {
  const element = document.getElementById(id);
  if (element) plots.push({ element, options, chart: null });
}

function drawPlot(plot) {
  plot.chart?.dispose();
  plot.chart = echarts.init(plot.element, null, { renderer: "canvas" });
  plot.chart.setOption(plot.options());
}

function startPlots() {
  // Only what comes into view is drawn.
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const plot = plots.find((each) => each.element === entry.target);
      if (entry.isIntersecting && !plot.chart) drawPlot(plot);
    }
  }, { rootMargin: "200px" });
  const resized = new ResizeObserver((entries) => {
    for (const entry of entries) plots.find((each) => each.element === entry.target).chart?.resize();
  });
  for (const plot of plots) { seen.observe(plot.element); resized.observe(plot.element); }
}

// What all plots share. Tooltips are drawn on the canvas, so no text from a puzzle is ever taken for HTML.
function base(x, y, series, more = {}) {
  const text = { color: colour("soft"), fontSize: 12 };
  const axis = (given, vertical) => ({
    nameLocation: "middle", nameGap: vertical ? 50 : 30, nameTextStyle: text,
    axisLabel: { ...text, hideOverlap: true, ...given.axisLabel },
    axisLine: { lineStyle: { color: colour("soft") } },
    splitLine: { show: given.type !== "category", lineStyle: { color: colour("line"), opacity: 0.6 } },
    ...Object.fromEntries(Object.entries(given).filter(([key]) => key !== "axisLabel")),
  });
  return {
    animation: false,
    textStyle: { fontFamily: "system-ui, sans-serif" },
    grid: { left: 68, right: 18, top: series.length > 1 ? 40 : 18, bottom: 52 },
    legend: { show: series.length > 1, top: 0, type: "scroll", textStyle: text, pageTextStyle: text },
    tooltip: {
      renderMode: "richText", confine: true, backgroundColor: colour("card"), borderColor: colour("soft"),
      textStyle: { color: colour("ink"), fontSize: 13 },
    },
    xAxis: axis(x, false), yAxis: axis(y, true), series, ...more,
  };
}

const shortDuration = (value) => (value < 1 ? duration(value) : `${count(Number(value.toPrecision(3)))} s`).replace(" ", "\u202f");
const logTime = (name) => ({ type: "log", name, axisLabel: { formatter: shortDuration } });

function startTheme() {
  const button = document.getElementById("theme");
  const show = () => { button.setAttribute("aria-pressed", String(Theme.now() === "dark")); };
  const change = (theme) => {
    Theme.set(theme);
    show();
    for (const plot of plots) if (plot.chart) drawPlot(plot);
  };
  button.addEventListener("click", () => {
    const theme = Theme.now() === "dark" ? "light" : "dark";
    Theme.keep(theme);
    change(theme);
  });
  prefersDark.addEventListener("change", () => { if (!Theme.kept()) change(prefersDark.matches ? "dark" : "light"); });
  show();
}

async function start(main) {
  startTheme();
  try {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser is too old (no DecompressionStream)");
    main(await readData());
    startPlots();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    const place = document.getElementById("trouble");
    place.textContent = `The plots and the table can't be shown: ${error.message}.`;
    place.hidden = false;
  }
}
