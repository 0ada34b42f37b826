import { ageElement, base, commandLine, facts, link, part, refreshAges } from "./parts.js";

const main = document.getElementById("task");
const freshness = document.getElementById("freshness");
const issue = Number(location.pathname.split("/").pop());
const key = document.querySelector('meta[name="action-key"]').content;
const SVG = "http://www.w3.org/2000/svg";
const COLOURS = { agent: "working", gates: "ready", CI: "waiting", "waiting for a person": "needs_you" };

function section(title, ...children) {
  return part("section", { "aria-label": title }, part("h2", {}, title), ...children);
}

function output(name, text) {
  return part("pre", { tabindex: "0", role: "region", "aria-label": name }, text);
}

function span(seconds) {
  if (seconds < 60) return `${seconds} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function spentChart(spent) {
  const whole = spent.reduce((sum, one) => sum + one.seconds, 0);
  const chart = document.createElementNS(SVG, "svg");
  chart.setAttribute("class", "spent");
  chart.setAttribute("viewBox", "0 0 1000 20");
  chart.setAttribute("preserveAspectRatio", "none");
  chart.setAttribute("aria-hidden", "true");
  let left = 0;
  for (const one of spent.filter((part) => part.seconds)) {
    const bar = document.createElementNS(SVG, "rect");
    const width = (one.seconds / whole) * 1000;
    for (const [name, value] of Object.entries({ x: left, y: 0, width, height: 20, fill: `var(--${COLOURS[one.by]})` })) bar.setAttribute(name, value);
    chart.append(bar);
    left += width;
  }
  const words = spent.map((one) => part("li", {}, part("span", { class: COLOURS[one.by], "aria-hidden": "true" }, "■ "), `${one.by}: ${span(one.seconds)}`));
  return section("Where the time went", whole ? chart : "", part("ul", {}, ...words));
}

function timelineList(rows) {
  if (!rows.length) return part("p", { class: "dim" }, "Nothing is recorded on this machine.");
  let day = "";
  const items = [];
  for (const row of rows) {
    const at = new Date(row.at);
    if (at.toLocaleDateString() !== day) {
      day = at.toLocaleDateString();
      items.push(part("li", {}, part("strong", {}, day)));
    }
    items.push(part("li", {}, part("time", { datetime: row.at }, at.toLocaleTimeString()), part("span", { class: "dim" }, row.who), part("span", {}, row.text)));
  }
  return part("ol", { class: "timeline" }, ...items);
}

function threadList(threads) {
  if (!threads.length) return part("p", { class: "dim" }, "No review threads.");
  const settled = threads.filter((one) => one.resolved).length;
  const items = threads.map((one) => part("details", one.resolved ? {} : { open: "open" },
    part("summary", {}, `${one.where} · ${one.id}${one.resolved ? " · resolved" : ""}`),
    ...one.remarks.map((remark) => part("div", {}, part("p", { class: "dim" }, remark.author), output(`Remark by ${remark.author}`, remark.body)))));
  return part("div", {}, part("p", {}, `${settled} of ${threads.length} resolved`), ...items);
}

function actionButtons(values) {
  return part("div", { class: "command" }, ...values.actions.map((action) => {
    const button = part("button", { type: "button" }, action.name);
    button.addEventListener("click", () => confirmAction(values, action, button));
    return button;
  }));
}

// Asked once more, in the page, so that a second click is a decision.
function confirmAction(values, action, button) {
  const once = crypto.randomUUID();
  const yes = part("button", { type: "button" }, `Yes, ${action.name}`);
  const no = part("button", { type: "button" }, "No");
  const question = part("p", { role: "alert" }, `${action.question} `, yes, " ", no);
  button.after(question);
  yes.focus();
  no.addEventListener("click", () => { question.remove(); button.focus(); });
  yes.addEventListener("click", async () => {
    yes.disabled = no.disabled = true;
    const answer = await fetch(`${base}task/${issue}/act`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Agent-Sync-Key": key },
      body: JSON.stringify({ action: action.name, version: values.version, once }),
    });
    const text = answer.ok ? (await answer.json()).printed : await answer.text();
    question.replaceChildren(output("What it printed", text));
    setTimeout(load, 5000);
  });
}

function draw(values) {
  const task = values.task;
  document.title = `#${task.issue} ${task.title} – agent-sync`;
  document.getElementById("title").textContent = `#${task.issue} ${task.title}`;
  freshness.textContent = "";
  main.replaceChildren(
    section("How it stands", part("p", {}, task.reason, task.since ? " · " : "", ageElement(task.since)), facts(task)),
    section("What you can do", part("p", {}, task.sentence), commandLine(task.next), actionButtons(values)),
    section("Timeline", timelineList(values.timeline)),
    spentChart(values.spent),
    section("Gates", values.gates ? output("Gate output", values.gates) : part("p", { class: "dim" }, "No run of the gates on this machine.")),
    section("Failing checks", values.logs.length
      ? part("div", {}, ...values.logs.map((log) => part("details", {}, part("summary", {}, `${log.name}: ${log.path}`), output(`CI log, ${log.name}`, log.tail))))
      : part("p", { class: "dim" }, "No log of a failed check on this machine.")),
    section("Review threads", threadList(values.threads)),
    section("Receipts", values.receipts.length
      ? part("ul", {}, ...values.receipts.map((one) => part("li", {}, `${one.id} ${one.command}: ${one.verified}`)))
      : part("p", { class: "dim" }, "No receipts on this machine.")),
    section("Changes", values.diffstat ? output("Changed files", values.diffstat) : part("p", { class: "dim" }, "Not known on this machine.")),
    task.pull ? part("p", {}, link(task.pull.url, `Pull request #${task.pull.number} on GitHub`)) : "",
  );
}

async function load() {
  try {
    const answer = await fetch(`${base}task/${issue}.json`);
    if (answer.ok) draw(await answer.json());
    else freshness.textContent = answer.status === 404 ? `The fleet has no task #${issue} now.` : "This page has ended; run agent-sync ui again.";
  } catch {
    freshness.textContent = "Not connected. What you see is from the last look.";
  }
}

setInterval(refreshAges, 30000);
await load();
