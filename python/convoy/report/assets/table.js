// The table of calls: filter, sort and selection. Links to a plan open it.
"use strict";
const table = document.getElementById("table"), filter = document.getElementById("filter");
const tableRows = [...table.tBodies[0].rows];
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of tableRows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
    shown += !row.hidden;
  }
  document.getElementById("filtered").textContent = words.length ? `${shown} of ${tableRows.length} calls` : "";
});
tableRows.forEach((row, number) => row.addEventListener("click", event => { if (!event.target.closest("a")) select(number); }));
table.querySelectorAll("thead button").forEach((button, column) => button.addEventListener("click", () => {
  const head = button.parentElement, up = head.getAttribute("aria-sort") === "descending";
  const value = row => { const cell = row.cells[column]; return "value" in cell.dataset ? Number(cell.dataset.value) : cell.textContent; };
  const keys = new Map(tableRows.map(row => [row, value(row)]));
  const rows = [...tableRows].sort((a, b) => { const x = keys.get(a), y = keys.get(b); return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); });
  table.querySelectorAll("th").forEach(each => each.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  table.tBodies[0].append(...rows);
}));
const opened = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", opened);
opened();
