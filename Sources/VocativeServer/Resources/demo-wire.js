// What happens on the wire: the latest requests and events, each as a curl line to try.
import { make, setText, timeElement } from "./demo-dom.js";

const KEPT = 60;

export class WireLog {
  #list = document.getElementById("wire-list");
  #latest = document.getElementById("wire-latest");
  #caFile;

  /** `caFile`: where the development certificate authority lies, for curl. */
  set caFile(path) {
    this.#caFile = path;
  }

  add(record) {
    const title = record.kind === "event" ? record.title : `${record.method} ${record.path}`;
    setText(this.#latest, `${record.device.name}: ${title}`);
    const line = make(
      "li",
      { className: record.kind },
      timeElement(record.at.toISOString()),
      make("span", { className: "wire-device", textContent: record.device.name }),
      make("code", { textContent: title }),
      make("span", { className: "wire-detail", textContent: record.detail }),
      this.#copyButton(record),
    );
    this.#list.prepend(line);
    while (this.#list.childElementCount > KEPT) this.#list.lastElementChild.remove();
  }

  #copyButton(record) {
    const isEvent = record.kind === "event";
    const label = isEvent ? "Copy JSON" : "Copy curl";
    const button = make("button", { type: "button", className: "quiet", textContent: label });
    button.addEventListener("click", async () => {
      const text = isEvent ? record.body : curl(record, this.#caFile);
      const isCopied = await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? "Copied" : "Not allowed to copy";
      setTimeout(() => (button.textContent = label), 1500);
    });
    return button;
  }
}

/** A request as one line for a POSIX shell. */
export function curl({ method, path, headers, requestBody, device }, caFile) {
  const quote = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const all = { ...headers, Authorization: `Bearer ${device.token}` };
  const words = ["curl", "--no-buffer"];
  if (caFile) words.push("--cacert", quote(caFile));
  if (method !== "GET") words.push("--request", method);
  for (const [name, value] of Object.entries(all)) words.push("--header", quote(`${name}: ${value}`));
  if (requestBody !== undefined) words.push("--data-raw", quote(requestBody));
  words.push(quote(new URL(path, location.origin).href));
  return words.join(" ");
}
