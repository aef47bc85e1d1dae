// One device on the page: its bar, its list of conversations and the open conversation.
import { initials, make, momentElement, reconcile, setText, tint } from "./demo-dom.js";
import { EntryLog } from "./demo-entries.js";
import { nameOf, timeline } from "./demo-feed.js";
import { NewThreadForm, PeoplePanel } from "./demo-forms.js";

const TEXT_LIMIT_BYTES = 64 * 1024;
const CONNECTIONS = {
  connecting: "Connecting…",
  live: "Live",
  reconnecting: "Reconnecting…",
  offline: "Offline",
};

export class DeviceView {
  #device;
  #session;
  #parts = {};
  #log;
  #people;
  #newThread;
  #threadId;
  #editing = null;
  #directory;

  /** `directory` maps the user ids of the session to names. */
  constructor(device, session, { threadId, directory, position }) {
    this.#device = device;
    this.#session = session;
    this.#threadId = threadId;
    this.#directory = directory;
    const template = document.getElementById("device-template").content.cloneNode(true);
    this.element = template.firstElementChild;
    this.element.dataset.position = position;
    this.element.id = `device-${position}`;
    for (const part of this.element.querySelectorAll("[data-part]")) {
      this.#parts[part.dataset.part] = part;
    }
    this.#label(position);
    this.#build();
    this.#listen();
  }

  get unread() {
    return this.#device.threads().reduce((sum, each) => sum + this.#device.unreadCount(each), 0);
  }

  // MARK: Building

  #label(position) {
    const { avatar, name, device, online, threads, text } = this.#parts;
    name.id = `device-name-${position}`;
    this.element.setAttribute("aria-labelledby", name.id);
    name.textContent = this.#session.name;
    device.textContent = this.#session.device;
    avatar.textContent = initials(this.#session.name);
    avatar.dataset.tint = this.#tintOf(this.#session.userId);
    online.setAttribute("aria-label", `${this.#session.device}: online`);
    threads.setAttribute("aria-label", `Conversations on ${this.#session.device}`);
    text.id = `composer-${position}`;
    this.#parts.people.id = `people-${position}`;
    this.#parts["people-toggle"].setAttribute("aria-controls", this.#parts.people.id);
  }

  #build() {
    const device = this.#device;
    this.#log = new EntryLog(this.#parts.log, this.#parts.entries, {
      edit: (entryId, text) => this.#startEdit(entryId, text),
      delete: (entryId) => device.delete(this.#threadId, entryId),
      retry: (entryId) => device.outbox.retry(this.#operationOn(entryId)),
      discard: (entryId) => device.discard(this.#operationOn(entryId)),
      fetchMissing: (hole) => device.fetchMissing(this.#threadId, hole),
      redraw: () => this.render(),
      leave: () => this.#parts.text.focus(),
    });
    this.#people = new PeoplePanel(this.#parts, {
      add: (userId) => device.addPerson(this.#threadId, userId),
      remove: (userId) => device.removePerson(this.#threadId, userId),
    });
    this.#newThread = new NewThreadForm(this.#parts, {
      start: ({ userIds, subject, text }) => {
        this.#open(device.startThread(userIds, subject, text));
      },
      close: () => this.#pane("conversation"),
    });
  }

  #listen() {
    const parts = this.#parts;
    parts.online.addEventListener("click", () => {
      if (this.#device.isOnline) this.#device.goOffline();
      else this.#device.goOnline();
    });
    parts.new.addEventListener("click", () => this.#compose());
    parts.back.addEventListener("click", () => {
      this.#pane("threads");
      parts["thread-list"].querySelector("[aria-current]")?.focus();
    });
    parts.composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    parts.text.addEventListener("keydown", (event) => this.#key(event));
    parts.text.addEventListener("focus", () => this.#readIfHere());
    parts.text.addEventListener("input", () => parts.text.setCustomValidity(""));
    parts.cancel.addEventListener("click", () => this.#endEdit());
    parts["mark-read"].addEventListener("click", () => {
      this.#device.markRead(this.#threadId);
      parts.text.focus();
    });
  }

  // MARK: What a person does

  #submit() {
    const { text } = this.#parts;
    const value = text.value.trim();
    if (value === "") return;
    if (new TextEncoder().encode(value).length > TEXT_LIMIT_BYTES) {
      text.setCustomValidity("A message holds at most 64 KiB of text.");
      text.reportValidity();
      return;
    }
    if (this.#editing) this.#device.edit(this.#threadId, this.#editing, value);
    else this.#device.send(this.#threadId, value);
    this.#endEdit();
    this.#readIfHere();
  }

  #key(event) {
    const { text } = this.#parts;
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "Escape" && this.#editing) {
      this.#endEdit();
    } else if (event.key === "ArrowUp" && text.value === "") {
      event.preventDefault();
      this.#log.focusLast();
    }
  }

  #startEdit(entryId, text) {
    this.#editing = entryId;
    this.#parts.text.value = text ?? "";
    this.render();
    this.#parts.text.focus();
  }

  #endEdit() {
    this.#editing = null;
    this.#parts.text.value = "";
    this.#parts.text.setCustomValidity("");
    this.render();
    this.#parts.text.focus();
  }

  #open(threadId) {
    if (this.#editing) this.#endEdit();
    this.#threadId = threadId;
    this.#pane("conversation");
    this.render();
    this.#parts.text.focus();
  }

  #compose() {
    const known = new Map([...this.#directory, ...this.#device.feed.people()]);
    known.delete(this.#session.userId);
    this.#pane("new");
    this.#newThread.open(known);
  }

  #pane(name) {
    this.#parts.panes.dataset.pane = name;
    this.#parts["new-thread"].hidden = name !== "new";
    this.#parts.conversation.hidden = name === "new";
  }

  /** Who writes here has read what is here. */
  #readIfHere() {
    const thread = this.#thread();
    if (thread && document.activeElement === this.#parts.text && this.#device.unreadCount(thread)) {
      this.#device.markRead(thread.id);
    }
  }

  // MARK: Showing

  render() {
    const threads = this.#device.threads();
    if (!threads.some((thread) => thread.id === this.#threadId) && threads.length > 0) {
      this.#threadId = threads[0].id;
    }
    this.#showConnection();
    this.#showThreads(threads);
    this.#showConversation(this.#thread());
    this.#readIfHere();
  }

  #thread() {
    return this.#device.threads().find((thread) => thread.id === this.#threadId);
  }

  #operationOn(entryId) {
    return this.#device.outbox.operations.findLast((each) => each.entryId === entryId);
  }

  #nameOf(userId) {
    const here = this.#thread()?.everyone().find((each) => each.userId === userId && each.name);
    if (here) return nameOf(here);
    return this.#device.feed.people().get(userId) ?? this.#directory.get(userId) ?? userId;
  }

  /** The devices of the page have a tint each; everybody else gets one of the others. */
  #tintOf(userId) {
    const position = [...this.#directory.keys()].indexOf(userId);
    return position < 0 ? tint(userId) : String(position % 2);
  }

  #showConnection() {
    const { connection, online, notice } = this.#parts;
    this.element.dataset.connection = this.#device.connection;
    setText(connection, CONNECTIONS[this.#device.connection]);
    online.setAttribute("aria-checked", String(this.#device.isOnline));
    setText(notice, this.#device.notice);
  }

  #showThreads(threads) {
    const rows = threads.map((thread) => {
      const last = timeline(thread, this.#device.outbox.operations, this.#session.userId).findLast(
        (item) => item.entry && item.entry.kind !== "system",
      )?.entry;
      return {
        key: thread.id,
        title: this.#titleOf(thread),
        preview: last ? (last.deleted ? "Message deleted" : (last.text ?? `(${last.kind})`)) : "",
        isOwn: last?.senderId === this.#session.userId,
        at: last?.sentAt ?? thread.lastActivityAt,
        unread: this.#device.unreadCount(thread),
        isCurrent: thread.id === this.#threadId,
      };
    });
    reconcile(this.#parts["thread-list"], rows, (row) => this.#threadRow(row));
    const elsewhere = rows.reduce((sum, row) => sum + (row.isCurrent ? 0 : row.unread), 0);
    this.#parts.elsewhere.hidden = elsewhere === 0;
    setText(this.#parts.elsewhere, String(elsewhere));
  }

  #threadRow({ key, title, preview, isOwn, at, unread, isCurrent }) {
    const badge = make("span", { className: "badge", textContent: String(unread) });
    badge.append(make("span", { className: "sr-only", textContent: " unread" }));
    const button = make(
      "button",
      {
        type: "button",
        className: "thread",
        attributes: { "aria-current": isCurrent && "true", "data-action": "open" },
      },
      make("span", { className: "thread-title", textContent: title }),
      momentElement(at),
      make("span", { className: "thread-preview", textContent: isOwn ? `You: ${preview}` : preview }),
      unread > 0 ? badge : null,
    );
    button.addEventListener("click", () => this.#open(key));
    return make("li", {}, button);
  }

  #titleOf(thread) {
    if (thread.subject) return thread.subject;
    const others = thread.participants.filter((each) => each.userId !== this.#session.userId);
    return others.map((each) => this.#nameIn(each)).join(", ") || "Only you";
  }

  #nameIn(person) {
    return person.name ? nameOf(person) : this.#nameOf(person.userId);
  }

  #showConversation(thread) {
    const parts = this.#parts;
    for (const control of [parts.text, parts.send, parts["people-toggle"]]) {
      control.disabled = !thread;
    }
    if (!thread) {
      setText(parts.title, "No conversation yet");
      parts.entries.replaceChildren();
      parts.unread.hidden = true;
      return;
    }
    const title = this.#titleOf(thread);
    setText(parts.title, title);
    setText(parts.names, thread.participants.map((each) => this.#nameIn(each)).join(", "));
    parts.log.setAttribute("aria-label", `Messages in ${title}`);
    parts.text.setAttribute("aria-label", this.#editing ? "Edit message" : `Message to ${title}`);
    parts.editing.hidden = this.#editing === null;
    setText(parts.send, this.#editing ? "Save" : "Send");
    const unread = this.#device.unreadCount(thread);
    parts.unread.hidden = unread === 0;
    setText(parts["unread-text"], unread === 1 ? "1 unread message" : `${unread} unread messages`);
    this.#showEntries(thread, unread);
    this.#showTroubles(thread);
    this.#people.show(thread, this.#session.userId, (person) => this.#nameIn(person), {
      ...Object.fromEntries(this.#directory),
      ...Object.fromEntries(this.#device.feed.people()),
    });
  }

  #showEntries(thread, unread) {
    const selfId = this.#session.userId;
    const self = thread.participants.find((each) => each.userId === selfId);
    const moderates = self?.role === "owner" || self?.role === "admin";
    this.#log.show(thread.id, timeline(thread, this.#device.outbox.operations, selfId), {
      selfId,
      nameOf: (userId) => this.#nameOf(userId),
      tintOf: (userId) => this.#tintOf(userId),
      isOnline: this.#device.isOnline,
      isGroup: thread.participants.length > 2,
      isUnread: (entry) => unread > 0 && thread.isUnread(entry, selfId),
      can: (entry, operation) => ({
        edit: !operation && !entry.deleted && entry.senderId === selfId && entry.kind === "text",
        delete: !operation && !entry.deleted && (entry.senderId === selfId || moderates),
      }),
    });
  }

  /** Failures that belong to the conversation and not to one entry. */
  #showTroubles(thread) {
    const troubles = this.#device.outbox.operations.filter(
      (each) => each.threadId === thread.id && !each.entryId && each.state === "failed",
    );
    reconcile(
      this.#parts.troubles,
      troubles.map((each) => ({ key: `${each.kind}-${each.at}`, problem: each.problem })),
      (row) => this.#troubleRow(row),
    );
  }

  #troubleRow({ key, problem }) {
    const outbox = this.#device.outbox;
    const operation = outbox.operations.find((each) => `${each.kind}-${each.at}` === key);
    const retry = make("button", { type: "button", className: "quiet", textContent: "Retry" });
    retry.addEventListener("click", () => outbox.retry(operation));
    const discard = make("button", { type: "button", className: "quiet", textContent: "Discard" });
    discard.addEventListener("click", () => this.#device.discard(operation));
    return make("div", { className: "trouble" }, make("span", { textContent: problem }), retry, discard);
  }
}
