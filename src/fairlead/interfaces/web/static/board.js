// Draws the charts beside their tables, and says when the board has lost its server.
(() => {
  "use strict";
  const state = document.getElementById("link-state");

  function draw() {
    for (const place of document.querySelectorAll("[data-chart=cost]")) {
      const table = place.parentElement.querySelector("[data-rows=cost]");
      if (!table || place.dataset.drawn) continue;
      const rows = [...table.tBodies[0].rows];
      const costs = rows.map((row) => Number(row.cells[3].textContent));
      if (!window.uPlot || rows.length < 2 || !costs.some((cost) => cost > 0)) continue;
      place.hidden = false;
      place.dataset.drawn = "yes";
      const names = rows.map((row) => row.cells[0].textContent);
      const ink = getComputedStyle(document.body).color;
      new uPlot({
        width: Math.min(place.clientWidth || 640, 720), height: 220,
        scales: { x: { time: false, range: [-0.5, rows.length - 0.5] } },
        axes: [
          { stroke: ink, splits: () => names.map((_, at) => at), values: () => names, grid: { show: false } },
          { stroke: ink, values: (_, ticks) => ticks.map((tick) => "$" + tick.toFixed(2)) },
        ],
        series: [{}, { label: "US dollars", stroke: "#0969da", fill: "rgba(9, 105, 218, 0.35)", paths: uPlot.paths.bars({ size: [0.5, 80] }), points: { show: false } }],
      }, [names.map((_, at) => at), costs], place);
    }
  }

  document.addEventListener("DOMContentLoaded", draw);
  document.addEventListener("htmx:after:swap", draw);
  document.addEventListener("htmx:sse:error", () => { state.textContent = "Connection lost. Trying again."; });
  document.addEventListener("htmx:sse:after:connection", () => { state.textContent = ""; });
})();
