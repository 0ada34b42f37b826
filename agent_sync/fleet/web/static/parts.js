// What both pages are made of. Everything from outside becomes text, never markup.
export const base = document.querySelector('meta[name="base"]').content;

export function part(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== "" && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== "" && child !== null && child !== undefined));
  return made;
}

// Only addresses of web pages become links.
export function link(address, text) {
  const isWeb = /^https?:\/\//.test(address || "");
  return isWeb ? part("a", { href: address, rel: "noopener noreferrer" }, text) : part("span", {}, text);
}

export function age(moment, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export function ageElement(moment) {
  return moment ? part("time", { datetime: moment, class: "age" }, age(moment)) : "";
}

// Ages grow here, by one timer; the server sends nothing for it.
export function refreshAges() {
  for (const shown of document.querySelectorAll("time.age")) {
    const text = age(shown.dateTime);
    if (shown.textContent !== text) shown.textContent = text;
  }
}

export function commandLine(command) {
  if (!command) return "";
  const copy = part("button", { type: "button", class: "copy", "data-command": command, "aria-label": `Copy: ${command}` }, "Copy");
  copy.addEventListener("click", () => copyCommand(copy));
  return part("div", { class: "command" }, part("code", {}, command), copy);
}

export async function copyCommand(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.command);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select it and copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

export function facts(task) {
  const found = [];
  const pull = task.pull;
  if (pull) found.push(link(pull.url, `PR #${pull.number}`));
  if (task.ci) found.push(part("span", { class: task.ci === "failed" ? "failed" : "" }, `CI ${task.ci === "failed" ? "✗ " : ""}${task.ci}`));
  if (task.review) found.push(part("span", {}, task.review));
  if (task.attempts > 1) found.push(part("span", {}, `attempt ${task.attempts}`));
  if (task.name) found.push(part("span", {}, task.name));
  if (task.worktree) found.push(part("span", {}, task.worktree));
  return part("div", { class: "facts" }, ...found);
}
