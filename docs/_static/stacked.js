// Tables of many columns say on a narrow screen, cell by cell, what stands at the head of the column.
document.addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.docutils")) {
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
    if (heads.length < 5) continue;
    table.classList.add("stacked");
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, k) => { cell.dataset.head = heads[k] ?? ""; });
    }
  }
});
