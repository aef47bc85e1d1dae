// The demo page: two devices side by side, each on its own.
import { Device } from "./demo-device.js";
import { make, setText } from "./demo-dom.js";
import { DeviceView } from "./demo-view.js";
import { WireLog } from "./demo-wire.js";

const wire = new WireLog();
const root = document.getElementById("devices");
const picker = document.getElementById("picker");

async function loadSession() {
  const response = await fetch("/demo/session.json", { cache: "no-store" });
  if (!response.ok) throw new Error(`The service answered ${response.status} for the demo session.`);
  return response.json();
}

async function renewSession(userId, device) {
  const { devices } = await loadSession();
  const session = devices.find((each) => each.userId === userId && each.device === device);
  if (!session) throw new Error("The demo session no longer has this device.");
  return session;
}

/** On a narrow screen one device shows at a time; its button also counts what waits on it. */
function pickButton(session, view, position) {
  const badge = make("span", { className: "badge", hidden: true });
  const button = make("button", { type: "button" }, session.name, badge);
  button.addEventListener("click", () => pick(position));
  const update = () => {
    const unread = view.unread;
    badge.hidden = unread === 0;
    setText(badge, String(unread));
    if (unread > 0) badge.append(make("span", { className: "sr-only", textContent: " unread" }));
  };
  return { button, update };
}

function pick(position) {
  root.dataset.shown = position;
  for (const [index, button] of [...picker.children].entries()) {
    button.setAttribute("aria-pressed", String(index === position));
  }
}

function addDevice(session, position, { threadId, directory }) {
  let view = null;
  let button = null;
  const device = new Device(session, {
    renewSession,
    onWire: (record) => wire.add(record),
    onChange: () => {
      view.render();
      button.update();
    },
  });
  view = new DeviceView(device, session, { threadId, directory, position });
  button = pickButton(session, view, position);
  root.append(view.element);
  picker.append(button.button);
  view.render();
  device.goOnline();
}

async function begin() {
  const session = await loadSession();
  document.getElementById("loading").remove();
  wire.caFile = session.caFile;
  const directory = new Map(session.devices.map(({ userId, name }) => [userId, name]));
  for (const [position, each] of session.devices.entries()) {
    addDevice(each, position, { threadId: session.threadId, directory });
  }
  pick(0);
}

begin().catch((error) => {
  setText(document.getElementById("loading"), `The demo could not start. ${error.message}`);
});
