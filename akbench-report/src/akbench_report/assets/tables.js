"use strict";
// Without this file every table is complete and readable; with it, long ones can be sorted and filtered.

const FILTER_FROM = 15;

function key(row, column) {
  const cell = row.cells[column];
  const text = (cell.dataset.sort ?? cell.textContent).trim();
  const amount = Number(text.replaceAll(",", ""));
  return text === "" || Number.isNaN(amount) ? text : amount;
}

function compare(one, other) {
  if (typeof one === "number" && typeof other === "number") return one - other;
  if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
  return one.localeCompare(other, "en", { numeric: true });
}

function sort(table, head) {
  const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
    rows.sort((a, b) => sign * compare(key(a, head.cellIndex), key(b, head.cellIndex)));
    body.append(...rows);
  }
}

function makeSortable(table) {
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head));
    head.append(button);
  }
}

function makeFilterable(table) {
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.classList.contains("group"));
  if (rows.length < FILTER_FROM) return;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement("label");
  const input = document.createElement("input");
  const found = document.createElement("span");
  label.className = "filter";
  input.type = "search";
  found.setAttribute("role", "status");
  label.append("Show only rows with", input, found);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    rows.forEach((row, index) => {
      row.hidden = !texts[index].includes(wanted);
      shown += row.hidden ? 0 : 1;
    });
    found.textContent = wanted ? `${shown} of ${rows.length}` : "";
  });
  table.parentElement.before(label);
}

for (const table of document.querySelectorAll("table.runs, table.sortable")) {
  makeSortable(table);
  makeFilterable(table);
}
