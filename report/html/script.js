"use strict";
(() => {
  // Sorting: a button in each heading. A cell with data-n sorts as a number.
  const key = (row, n) => {
    const cell = row.cells[n];
    return cell.dataset.n === undefined ? cell.textContent.trim() : Number(cell.dataset.n);
  };
  const numbers = (a, b) => [a, b].every((x) => typeof x === "number");
  const compare = (a, b) => numbers(a, b) ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  const sort = (table, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const h of table.tHead.rows[0].cells) h.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const n = head.cellIndex;
    const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, key: key(row, n) }));
    rows.sort((a, b) => (down ? -1 : 1) * compare(a.key, b.key));
    for (const r of rows) table.tBodies[0].append(r.row);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head));
    }
  }

  // Searching: every word must occur in what a row or a file is found by.
  const files = document.querySelectorAll("details.file");
  const box = document.getElementById("search");
  const found = document.getElementById("found");
  const search = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const e of document.querySelectorAll("[data-find]")) {
      const text = e.dataset.find.toLowerCase();
      e.hidden = !words.every((w) => text.includes(w));
    }
    const shown = Array.from(files).filter((f) => !f.hidden).length;
    found.textContent = words.length ? shown + " of " + files.length + " files" : "";
  };
  box.addEventListener("input", search);
  document.getElementById("tools").hidden = false;

  const all = document.getElementById("all");
  all.addEventListener("click", () => {
    const open = Array.from(files).some((f) => !f.open);
    for (const f of files) f.open = open;
    all.textContent = open ? "Close all files" : "Open all files";
  });

  // A link to a file opens it.
  const jump = () => {
    const e = document.getElementById(location.hash.slice(1));
    if (e instanceof HTMLDetailsElement) {
      e.open = true;
      e.scrollIntoView();
    }
  };
  window.addEventListener("hashchange", jump);
  jump();
})();
