"use strict";
// Sorting, searching, collapsing, themes and keys. The page reads without any of it.

const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));

function worth(cell) {
  const text = cell.textContent.trim();
  const found = text.replaceAll(",", "").match(/^[-+−]?\d+(\.\d+)?(e[-+]?\d+)?/i);
  return found ? parseFloat(found[0].replace("−", "-")) : text === "–" ? -Infinity : text.toLowerCase();
}

function compared(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

function sortBy(header) {
  const row = header.parentElement, body = row.closest("table").tBodies[0];
  const column = Array.from(row.children).indexOf(header);
  const rising = header.getAttribute("aria-sort") === "descending";
  all("th", row).forEach((other) => other.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const keyed = Array.from(body.rows, (line) => [worth(line.cells[column]), line]);
  keyed.sort((a, b) => (rising ? compared(a[0], b[0]) : compared(b[0], a[0])));
  body.append(...keyed.map(([, line]) => line));
}

function filter(input) {
  const wanted = input.value.trim().toLowerCase();
  const place = input.closest(".sortable") || input.closest(".source-view");
  for (const line of all("tbody tr", place)) line.hidden = !line.textContent.toLowerCase().includes(wanted);
}

function step(by) {
  const lines = all("tr.hot").filter((line) => line.offsetParent);
  if (!lines.length) return;
  const now = lines.findIndex((line) => line.classList.contains("at"));
  if (now >= 0) lines[now].classList.remove("at");
  const next = lines[now < 0 ? (by > 0 ? 0 : lines.length - 1) : (now + by + lines.length) % lines.length];
  next.classList.add("at");
  next.scrollIntoView({ block: "center" });
  next.tabIndex = -1;
  next.focus({ preventScroll: true });  // a screen reader reads the line
}

function turn() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

const help = document.getElementById("help");
const keys = {
  "/": () => (all("input[type=search]").find((input) => input.offsetParent) || document.body).focus(),
  n: () => step(1),
  p: () => step(-1),
  e: () => all("main details").forEach((one) => (one.open = true)),
  c: () => all("main details").forEach((one) => (one.open = false)),
  t: turn,
  "?": () => help.showModal(),
};

document.getElementById("theme").addEventListener("click", turn);
document.getElementById("keys").addEventListener("click", keys["?"]);
for (const button of all(".sortable th button")) button.addEventListener("click", () => sortBy(button.parentElement));
for (const input of all("input[type=search]")) {
  input.addEventListener("input", () => filter(input));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { input.value = ""; filter(input); input.blur(); }
  });
}
for (const box of all(".only-hot")) {
  box.addEventListener("change", () => box.closest(".source-view").classList.toggle("only", box.checked));
}
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
// A long source begins at its first line that accesses memory.
for (const place of all(".source-view .tall")) {
  const first = place.querySelector("tr.hot");
  if (first) place.scrollTop = first.offsetTop - place.clientHeight / 3;
}
window.addEventListener("beforeprint", keys.e);
