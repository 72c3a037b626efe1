"use strict";
(() => {
  const STEP = 30;
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search");
  const all = document.getElementById("all");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  const words = (n) => n.toLocaleString("en") + (n === 1 ? " variable" : " variables");

  const selected = [...body.rows].filter((row) => row.dataset.rank).map((row) => ({ ...row.dataset, row }));
  const others = JSON.parse(document.getElementById("others").textContent)
    .map(([rank, name]) => ({ rank, name, importance: 0 }));
  let key = "rank", down = false, limit = STEP;

  // names are text, never markup
  const cell = (tag, text, css) => {
    const node = document.createElement(tag);
    node.textContent = text;
    if (css) node.className = css;
    return node;
  };
  const rowOf = (item) => {
    if (!item.row) {
      const rest = cell("td", "not selected");
      rest.colSpan = heads.length - 2;
      const name = cell("th", item.name);
      name.scope = "row";
      item.row = document.createElement("tr");
      item.row.className = "out";
      item.row.append(cell("td", item.rank, "num"), name, rest);
    }
    return item.row;
  };
  const value = (item) => {
    const v = item[key];
    if (v === undefined || v === "") return null;
    return key === "name" || key === "effect" || key === "partners" ? String(v) : Number(v);
  };
  const compare = (a, b) => {
    const x = value(a), y = value(b);
    if (x === null || y === null) return (x === null) - (y === null) || a.rank - b.rank;
    const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return (down ? -order : order) || a.rank - b.rank;
  };
  const show = () => {
    const query = search.value.trim().toLowerCase();
    const pool = query || (all && all.checked) ? [...selected, ...others] : selected;
    const found = pool.filter((item) => item.name.toLowerCase().includes(query)).sort(compare);
    const none = cell("td", query ? "No variable has that in its name." : "No variable was selected.");
    none.colSpan = heads.length;
    const empty = document.createElement("tr");
    empty.className = "none";
    empty.append(none);
    body.replaceChildren(...(found.length ? found.slice(0, limit).map(rowOf) : [empty]));
    count.textContent = words(found.length) + (found.length > limit ? ", the first " + limit + " shown" : "");
    more.parentNode.hidden = found.length <= limit;
    for (const head of heads) {
      if (head.dataset.key === key) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };
  for (const head of heads) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const text = ["rank", "name", "effect", "partners"].includes(head.dataset.key);
      down = key === head.dataset.key ? !down : !text;
      key = head.dataset.key;
      show();
    });
  }
  const again = () => { limit = STEP; show(); };
  search.addEventListener("input", again);
  if (all) all.addEventListener("change", again);
  more.addEventListener("click", () => { limit += STEP; show(); });
  document.querySelector(".controls").hidden = false;
  show();
})();
