// The two smaller panels of a device: who is in a conversation, and starting a new one.
import { make, reconcile, setText } from "./demo-dom.js";

/** Lists the participants; lets owners and admins add and remove, and anyone leave. */
export class PeoplePanel {
  #parts;
  #handlers;

  constructor(parts, handlers) {
    this.#parts = parts;
    this.#handlers = handlers;
    const toggle = parts["people-toggle"];
    toggle.addEventListener("click", () => {
      parts.people.hidden = !parts.people.hidden;
      toggle.setAttribute("aria-expanded", String(!parts.people.hidden));
    });
    parts["people-add"].addEventListener("submit", (event) => {
      event.preventDefault();
      handlers.add(parts["people-select"].value);
    });
  }

  show(thread, selfId, nameOf, known) {
    const self = thread.participants.find((each) => each.userId === selfId);
    const manages = self?.role === "owner" || self?.role === "admin";
    const rows = thread.participants.map((person) => ({
      key: person.userId,
      name: nameOf(person),
      role: person.role,
      isSelf: person.userId === selfId,
      isRemovable: person.userId === selfId || manages,
    }));
    reconcile(this.#parts["people-list"], rows, (row) => this.#row(row));
    const present = new Set(rows.map((row) => row.key));
    const choices = Object.entries(known)
      .filter(([userId]) => !present.has(userId))
      .map(([userId, name]) => ({ key: userId, name }));
    this.#parts["people-add"].hidden = !manages || choices.length === 0;
    reconcile(this.#parts["people-select"], choices, ({ key, name }) =>
      make("option", { value: key, textContent: name }),
    );
  }

  #row({ key, name, role, isSelf, isRemovable }) {
    const button = make("button", {
      type: "button",
      className: "quiet",
      textContent: isSelf ? "Leave" : "Remove",
      attributes: { "aria-label": isSelf ? "Leave the conversation" : `Remove ${name}` },
    });
    button.addEventListener("click", () => this.#handlers.remove(key));
    const label = make("span", { textContent: isSelf ? `${name} (you)` : name });
    const rank = make("span", { className: "role", textContent: role ?? "" });
    return make("li", {}, label, rank, isRemovable ? button : null);
  }
}

/** Asks with whom, about what and how to begin. */
export class NewThreadForm {
  #parts;

  constructor(parts, { start, close }) {
    this.#parts = parts;
    const form = parts["new-thread"];
    const end = () => {
      form.reset();
      close();
      parts.new.focus();
    };
    parts["new-cancel"].addEventListener("click", end);
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") end();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const userIds = [...parts.choices.querySelectorAll(":checked")].map((box) => box.value);
      if (userIds.length === 0) {
        setText(parts["new-problem"], "Choose at least one person.");
        parts.choices.querySelector("input")?.focus();
        return;
      }
      const request = { userIds, subject: parts.subject.value.trim(), text: parts.first.value.trim() };
      form.reset();
      start(request);
    });
  }

  /** `people` maps user ids to names. */
  open(people) {
    setText(this.#parts["new-problem"], "");
    const boxes = [...people].map(([value, name]) => {
      const box = make("input", { type: "checkbox", value, checked: people.size === 1 });
      return make("label", { className: "choice" }, box, ` ${name}`);
    });
    this.#parts.choices.replaceChildren(...boxes);
    (this.#parts.choices.querySelector("input") ?? this.#parts.first).focus();
  }
}
