import { ageElement, base, commandLine, copyCommand, facts, part, refreshAges } from "./parts.js";

const LANES = [
  ["needs_you", "!", "Needs you", "Nothing needs you."],
  ["working", "▸", "Working", "No agent is working. Start one: agent-sync claim --next"],
  ["waiting", "…", "Waiting", "Nothing waits."],
  ["ready", "○", "Ready", "No issue is ready."],
];
const main = document.getElementById("lanes");
const freshness = document.getElementById("freshness");
let fleet = null;
let stream = null;
let hiddenTimer = null;

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function laneSection(name, glyph, title) {
  const count = part("span", { class: "count" });
  const heading = part("h2", { id: `lane-${name}`, class: name }, part("span", { "aria-hidden": "true" }, glyph), title, count);
  const empty = part("p", { class: "dim empty" });
  const list = part("ul", { "aria-labelledby": `lane-${name}` });
  return part("section", { class: "lane", "data-lane": name, "aria-labelledby": `lane-${name}` }, heading, empty, list);
}

function identity(task) {
  return `${task.lane}:${task.issue ?? ""}:${task.worktree}`;
}

function card(task) {
  const title = `#${task.issue ?? "?"} ${task.title}`;
  const name = task.issue ? part("a", { href: `${base}task/${task.issue}` }, title) : title;
  const reason = part("p", { class: task.lane === "needs_you" ? "needs_you" : "" }, task.reason, task.since ? " · " : "", ageElement(task.since));
  return part("li", { class: "card", "data-id": identity(task), "data-value": JSON.stringify(task) },
    part("h3", {}, name), reason, facts(task), commandLine(task.next));
}

// Rows are kept where they did not change, so that focus, selection and scroll position survive.
function drawLane(section, tasks, empty) {
  const list = section.querySelector("ul");
  const old = new Map([...list.children].map((row) => [row.dataset.id, row]));
  const focused = document.activeElement?.closest?.("li.card")?.dataset.id;
  const wanted = tasks.map((task) => {
    const row = old.get(identity(task));
    return row && row.dataset.value === JSON.stringify(task) ? row : card(task);
  });
  wanted.forEach((row, place) => {
    if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null);
  });
  while (list.children.length > wanted.length) list.lastElementChild.remove();
  if (focused && !document.activeElement?.closest?.("li.card")) {
    list.querySelector(`li[data-id="${CSS.escape(focused)}"] a, li[data-id="${CSS.escape(focused)}"] button`)?.focus();
  }
  setText(section.querySelector(".count"), String(tasks.length));
  setText(section.querySelector(".empty"), tasks.length ? "" : empty);
}

function announce(before, after) {
  if (!before) return;
  const known = new Set(before.tasks.filter((task) => task.lane === "needs_you").map((task) => task.issue));
  const entered = after.tasks.filter((task) => task.lane === "needs_you" && !known.has(task.issue));
  if (entered.length) setText(document.getElementById("news"), entered.map((task) => `#${task.issue} needs you: ${task.reason}`).join(" "));
}

function draw(values) {
  announce(fleet, values);
  fleet = values;
  const filter = document.getElementById("filter").value.trim().toLowerCase();
  const shown = values.tasks.filter((task) => !filter || JSON.stringify(task).toLowerCase().includes(filter));
  for (const [name, , , empty] of LANES) {
    const note = name === "ready" && values.board_note ? `${empty} ${values.board_note}` : empty;
    drawLane(main.querySelector(`[data-lane="${name}"]`), shown.filter((task) => task.lane === name), note);
  }
  setText(document.getElementById("repository"), values.repository || "agent-sync");
  setText(document.getElementById("finished"), values.finished_today ? `${values.finished_today} finished today` : "");
  const count = values.counts.needs_you;
  document.title = `${count ? `(${count}) ` : ""}${values.repository} – agent-sync`;
  document.querySelector('link[rel="icon"]').href = `${base}${count ? "icon-needs-you.svg" : "icon.svg"}`;
  sayFreshness();
}

function clock(moment) {
  return new Date(moment).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

function sayFreshness() {
  if (!fleet) return;
  const since = clock(fleet.looked_at);
  if (stream?.readyState === EventSource.CLOSED) setText(freshness, "This page has ended; run agent-sync ui again.");
  else if (stream?.readyState !== EventSource.OPEN) setText(freshness, `Not connected; trying again. What you see is from ${since}.`);
  else if (fleet.paused_until) setText(freshness, `Paused until ${clock(fleet.paused_until)}: GitHub's limit. What you see is from ${since}.`);
  else if (fleet.stale_reason) setText(freshness, `Not known now: ${fleet.stale_reason} What you see is from ${since}.`);
  else setText(freshness, `Live, looked at ${since}.`);
}

function connect() {
  stream?.close();
  stream = new EventSource(`${base}events?after=${encodeURIComponent(fleet?.version ?? "")}`);
  stream.addEventListener("fleet", (event) => draw(JSON.parse(event.data)));
  stream.addEventListener("open", sayFreshness);
  stream.addEventListener("error", sayFreshness);
}

// A browser has few connections to one host: a hidden tab gives its own back, and asks once a minute.
document.addEventListener("visibilitychange", () => {
  clearInterval(hiddenTimer);
  if (document.hidden) {
    hiddenTimer = setInterval(() => { stream?.close(); load(); }, 60000);
  } else if (stream?.readyState === EventSource.CLOSED) {
    connect();
  }
});

function move(step) {
  const rows = [...document.querySelectorAll("li.card a[href*='task/']")];
  const place = rows.indexOf(document.activeElement?.closest?.("li.card")?.querySelector("a"));
  rows[Math.min(rows.length - 1, Math.max(0, place + step))]?.focus();
}

document.addEventListener("keydown", (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "") && document.activeElement.type !== "checkbox";
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !document.getElementById("letters").checked) return;
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "c") {
    const button = document.activeElement?.closest?.("li.card")?.querySelector("button.copy");
    if (button) copyCommand(button);
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("filter").focus();
  }
});
document.getElementById("filter").addEventListener("input", () => fleet && draw(fleet));

async function load() {
  try {
    const answer = await fetch(`${base}fleet.json`);
    if (answer.ok) draw(await answer.json());
    else setText(freshness, answer.status === 403 ? "This page has ended; run agent-sync ui again." : "The fleet could not be read; trying again.");
  } catch {
    sayFreshness();
  }
}

for (const [name, glyph, title] of LANES) main.append(laneSection(name, glyph, title));
setInterval(() => { refreshAges(); sayFreshness(); }, 30000);
await load();
connect();
