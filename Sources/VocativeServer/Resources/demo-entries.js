// The log of one conversation: entries, day and "new" dividers, holes, and the keyboard within it.
import { dayName, initials, make, reconcile, timeElement } from "./demo-dom.js";

const GROUP_MS = 5 * 60_000;

/** Shows a timeline in `list` and tells `handlers` what a person asks of an entry. */
export class EntryLog {
  #log;
  #list;
  #handlers;
  /** The entry whose deletion waits for a second press. */
  #confirming = null;
  #current = null;
  #shown = null;
  #isAtEnd = true;

  constructor(log, list, handlers) {
    this.#log = log;
    this.#list = list;
    this.#handlers = handlers;
    log.addEventListener("scroll", () => {
      this.#isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
    });
    new ResizeObserver(() => this.#isAtEnd && this.#scrollToEnd()).observe(log);
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("focusin", (event) => this.#enter(event.target.closest("li")));
  }

  /** `items` as `timeline` returns them; `nameOf(userId)`, `tintOf(userId)`, `isUnread(entry)`, `can(entry, operation)`. */
  show(threadId, items, context) {
    const isOther = this.#shown !== threadId;
    if (isOther) this.#list.replaceChildren();
    this.#shown = threadId;
    reconcile(this.#list, this.#rows(items, context), (row) => this.#row(row));
    this.#rove();
    if (isOther || this.#isAtEnd || items.at(-1)?.operation?.kind === "send") this.#scrollToEnd();
  }

  #scrollToEnd() {
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  focusLast() {
    this.#entries().at(-1)?.focus();
  }

  // MARK: Rows, plain data first

  #rows(items, { selfId, nameOf, tintOf, isUnread, can, isGroup, isOnline }) {
    const newestOwn = items.findLast((item) => item.entry?.senderId === selfId)?.key;
    const rows = [];
    let before = null;
    let sawUnread = false;
    for (const [index, item] of items.entries()) {
      if (item.hole) {
        const isFirst = index === 0;
        rows.push({ key: item.key, kind: "hole", hole: item.hole, isFirst });
        before = null;
        continue;
      }
      const { entry, operation } = item;
      const day = dayName(entry.sentAt);
      if (!before || dayName(before.sentAt) !== day) {
        rows.push({ key: `day-${entry.sentAt.slice(0, 10)}-${entry.id}`, kind: "day", day });
        before = null;
      }
      if (!sawUnread && isUnread(entry)) {
        sawUnread = true;
        rows.push({ key: "new", kind: "new" });
        before = null;
      }
      if (entry.kind === "system") {
        rows.push({ key: item.key, kind: "system", text: systemText(entry, nameOf), at: entry.sentAt });
        before = null;
        continue;
      }
      const next = items[index + 1];
      rows.push({
        key: item.key,
        kind: "entry",
        entry: pick(entry),
        isOwn: entry.senderId === selfId,
        name: nameOf(entry.senderId),
        tint: tintOf(entry.senderId),
        status: status(operation, isOnline, item.key === newestOwn && !entry.deleted),
        isFirst: !continues(before, entry),
        isLast: !next?.entry || next.entry.kind === "system" || !continues(entry, next.entry),
        showsName: isGroup,
        can: can(entry, operation),
        isConfirming: this.#confirming === item.key,
      });
      before = entry;
    }
    return rows;
  }

  #row(row) {
    if (row.kind === "day") {
      return make("li", { className: "divider day" }, make("span", { textContent: row.day }));
    }
    if (row.kind === "new") {
      return make("li", { className: "divider new" }, make("span", { textContent: "New" }));
    }
    if (row.kind === "system") {
      return make("li", { className: "system" }, row.text, " ", timeElement(row.at));
    }
    if (row.kind === "hole") return this.#holeRow(row);
    return this.#entryRow(row);
  }

  #holeRow({ hole, isFirst }) {
    const button = make("button", {
      type: "button",
      className: "quiet",
      textContent: isFirst ? "Load earlier messages" : "Load the messages in between",
    });
    button.addEventListener("click", () => this.#handlers.fetchMissing(hole));
    return make("li", { className: "hole" }, button);
  }

  #entryRow(row) {
    const { entry, isOwn, name } = row;
    const side = isOwn ? "own" : "other";
    const classes = ["entry", side, row.isFirst && "first", row.isLast && "last"];
    if (row.status) classes.push(row.status.state);
    const avatar = make("span", {
      className: "avatar",
      textContent: initials(name),
      attributes: { "aria-hidden": "true", "data-tint": row.tint },
    });
    const visibleName = row.isFirst && row.showsName && !isOwn;
    const sender = make("p", {
      className: visibleName ? "sender" : "sr-only",
      textContent: isOwn ? "You" : name,
    });
    const text = entry.deleted
      ? make("p", { className: "text gone", textContent: "Message deleted" })
      : make("p", { className: "text", textContent: entry.text ?? `(${entry.kind})`, dir: "auto" });
    return make(
      "li",
      { className: classes.filter(Boolean).join(" "), tabIndex: -1 },
      isOwn ? null : avatar,
      make("div", { className: "bubble" }, sender, text),
      this.#actions(row),
      this.#meta(row),
    );
  }

  #meta({ entry, status: state, isLast }) {
    const isNoteworthy = isLast || entry.isEdited || state?.isNoteworthy;
    const meta = make("p", { className: isNoteworthy ? "meta" : "meta sr-only" });
    meta.append(timeElement(entry.sentAt));
    if (entry.isEdited && !entry.deleted) meta.append(" · Edited");
    if (state) meta.append(" · ", make("span", { className: "state", textContent: state.text }));
    return meta;
  }

  #actions({ key, entry, status: state, can, isConfirming }) {
    const actions = make("div", { className: "actions" });
    const add = (action, text, run, label) => {
      const button = make("button", {
        type: "button",
        className: "quiet",
        textContent: text,
        tabIndex: -1,
        attributes: { "data-action": action, "aria-label": label },
      });
      button.addEventListener("click", run);
      actions.append(button);
    };
    const handlers = this.#handlers;
    if (state?.state === "failed") {
      actions.classList.add("always");
      add("retry", "Retry", () => handlers.retry(key));
      add("discard", "Discard", () => handlers.discard(key));
    } else if (isConfirming) {
      actions.classList.add("always");
      add("confirm", "Delete for everyone", () => {
        this.#confirming = null;
        handlers.delete(key);
      });
      add("keep", "Keep", () => this.#confirm(null, key));
    } else {
      if (can.edit) add("edit", "Edit", () => handlers.edit(key, entry.text), "Edit this message");
      if (can.delete) add("delete", "Delete", () => this.#confirm(key, key), "Delete this message");
    }
    return actions.childElementCount > 0 ? actions : null;
  }

  #confirm(key, at) {
    this.#confirming = key;
    this.#handlers.redraw();
    const row = this.#list.querySelector(`[data-key="${at}"]`);
    (row?.querySelector("[data-action='confirm']") ?? row)?.focus();
  }

  // MARK: Keyboard: one tab stop, arrows between entries, Tab on to an entry's buttons

  #entries() {
    return [...this.#list.querySelectorAll(":scope > .entry")];
  }

  #enter(row) {
    if (!row?.classList.contains("entry") || this.#current === row.dataset.key) return;
    this.#current = row.dataset.key;
    this.#rove();
  }

  #rove() {
    const entries = this.#entries();
    const current = entries.find((row) => row.dataset.key === this.#current) ?? entries.at(-1);
    for (const row of entries) {
      row.tabIndex = row === current ? 0 : -1;
      for (const button of row.querySelectorAll("button")) button.tabIndex = row.tabIndex;
    }
  }

  #key(event) {
    const entries = this.#entries();
    const row = event.target.closest(".entry");
    const at = entries.indexOf(row);
    const targets = {
      ArrowUp: entries[Math.max(0, at - 1)],
      ArrowDown: entries[at + 1],
      Home: entries[0],
      End: entries.at(-1),
    };
    if (event.key === "Escape" && this.#confirming) {
      this.#confirm(null, this.#confirming);
    } else if (event.key === "Escape" || (event.key === "ArrowDown" && at === entries.length - 1)) {
      this.#handlers.leave();
    } else if (targets[event.key]) {
      targets[event.key].focus();
    } else {
      return;
    }
    event.preventDefault();
  }
}

function pick({ id, senderId, kind, text, sentAt, editedAt, deleted }) {
  return { id, senderId, kind, text, sentAt, isEdited: Boolean(editedAt), deleted: Boolean(deleted) };
}

function continues(before, entry) {
  return (
    before !== null &&
    before.kind !== "system" &&
    before.senderId === entry.senderId &&
    new Date(entry.sentAt) - new Date(before.sentAt) < GROUP_MS &&
    dayName(before.sentAt) === dayName(entry.sentAt)
  );
}

function status(operation, isOnline, isNewestOwn) {
  if (!operation) return isNewestOwn ? { state: "sent", text: "Sent", isNoteworthy: false } : null;
  if (operation.state === "failed") {
    const what = { send: "Not sent", edit: "Edit not saved", delete: "Not deleted" }[operation.kind];
    return { state: "failed", text: `${what}: ${operation.problem}`, isNoteworthy: true };
  }
  if (!isOnline) return { state: "pending", text: "Waiting to send", isNoteworthy: true };
  const text = { send: "Sending…", edit: "Saving…", delete: "Deleting…" }[operation.kind];
  return { state: "pending", text, isNoteworthy: true };
}

function systemText(entry, nameOf) {
  const event = entry.system?.event;
  const name = nameOf(entry.system?.userId ?? entry.senderId);
  if (event === "joined") return `${name} joined`;
  if (event === "left") return `${name} left`;
  if (event === "removed") return `${name} was removed`;
  return "The conversation changed";
}
