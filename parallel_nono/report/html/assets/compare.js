"use strict";

const plain = (text) => text.replace(/[{}|]/g, " "); // these mean something in the text of a tooltip

function pairs(data) {
  const of = data.columns;
  const name = (row) => plain(data.names[row] || `${data.sources[of.source[row]].split("/").pop()} #${of.index[row]}`);
  addPlot("pairs", () => {
    const same = [], changed = [];
    let least = Infinity, most = 0;
    for (let row = 0; row < data.n; row++) {
      const point = [of.solve_s_a[row], of.solve_s_b[row], row];
      (of.outcome_a[row] === of.outcome_b[row] ? same : changed).push(point);
      least = Math.min(least, point[0], point[1]);
      most = Math.max(most, point[0], point[1]);
    }
    const many = data.n > 5000;
    const series = [
      { name: "same verdict", type: "scatter", data: same, symbolSize: many ? 4 : 7, large: many, itemStyle: { color: colour("accent"), opacity: many ? 0.45 : 0.75 } },
      { name: "changed", type: "scatter", data: changed, symbol: "diamond", symbolSize: 11, itemStyle: { color: colour("timeout") } },
      { name: "equal", type: "line", silent: true, showSymbol: false, data: data.n ? [[least, least], [most, most]] : [], lineStyle: { color: colour("soft"), width: 1, type: "dashed" }, itemStyle: { color: colour("soft") } },
    ];
    const options = base(logTime("time in A"), logTime("time in B"), series);
    options.tooltip.formatter = ({ data: point }) => {
      const row = point?.[2];
      if (row === undefined) return "";
      const verdict = [of.outcome_a[row], of.outcome_b[row]].map((code) => data.outcomes[code]);
      return `${name(row)}\n${verdict[0] === verdict[1] ? verdict[0] : verdict.join(", then ")}\nA ${duration(point[0])}, ${count(of.n_lines_a[row])} lines\nB ${duration(point[1])}, ${count(of.n_lines_b[row])} lines`;
    };
    return options;
  });
  addPlot("ratios", () => {
    const bins = data.ratios.map(([bin]) => bin), least = Math.min(...bins), most = Math.max(...bins);
    const values = new Array(bins.length ? most - least + 1 : 0).fill(0);
    for (const [bin, n] of data.ratios) values[bin - least] = n;
    const ratio = (place) => Number((2 ** ((least + place) / 4)).toPrecision(2));
    const options = base({ type: "category", name: "B / A, from", data: values.map((_, place) => String(ratio(place))) },
      { type: "value", name: "puzzles", nameGap: 54 },
      [{ type: "bar", data: values.map((n, place) => ({ value: n, itemStyle: { color: colour(least + place < 0 ? "unique" : "multiple") } })), barCategoryGap: "8%" }]);
    return options;
  });
}

function published(data) {
  addPlot("published", () => {
    const axis = { type: "category", name: "puzzle, by our time", data: data.puzzles.map(([puzzle]) => puzzle), axisLabel: { rotate: 60, interval: "auto", width: 105, overflow: "truncate" }, nameGap: 84 };
    const all = [...data.times.map(([, seconds]) => seconds), ...data.puzzles.map(([, , ours]) => ours)];
    const decade = (round, value) => 10 ** round(Math.log10(value));
    const bound = ([, , , relation]) => relation !== "=";
    const series = [
      { name: "published time", type: "scatter", symbolSize: 6, data: data.times.filter((time) => !bound(time)), itemStyle: { color: colour("soft"), opacity: 0.75 } },
      { name: "published bound", type: "scatter", symbol: "circle", symbolSize: 6, data: data.times.filter(bound), itemStyle: { color: "transparent", borderColor: colour("soft"), borderWidth: 1.5, opacity: 0.7 } },
      { name: "ours", type: "scatter", symbol: "diamond", symbolSize: 11, itemStyle: { color: colour("accent") }, data: data.puzzles.map((puzzle, place) => [place, puzzle[2]]) },
    ];
    const options = base(axis, { ...logTime("time"), min: decade(Math.floor, Math.min(...all)), max: decade(Math.ceil, Math.max(...all)), splitNumber: 12 }, series);
    options.grid.bottom = 104;
    options.tooltip.formatter = ({ data: point }) => {
      const [puzzle, title, ours, outcome, rating] = data.puzzles[point[0]];
      const who = point.length > 2 ? `${plain(point[2])}: ${point[3].replace("=", "")} ${duration(point[1])}\n` : "";
      return `${plain(puzzle)} ${plain(title)}\n${who}ours: ${duration(ours)}, ${outcome}${rating === null ? "" : `, rated ${rating.toFixed(1)}`}`;
    };
    return options;
  });
}

start((data) => (data.kind === "pairs" ? pairs : published)(data));
