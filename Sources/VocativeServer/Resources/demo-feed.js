// What one device knows: threads and their entries, built from the pages of its feed.
// Pure: no network, no clock, no document.

/** The replica that one device keeps. Everything in it came from the service. */
export class Feed {
  threads = new Map();
  /** The place in the feed that all of the above stands for; null before the first page. */
  token = null;
  #stale = null;

  /** After a 410: keeps what is there, and replaces each thread as the new pages bring it. */
  startAnew() {
    this.token = null;
    this.#stale = new Set(this.threads.keys());
  }

  /** Applies one page of changes; returns the live entries of others that it brought. */
  apply(page, selfId) {
    let arrived = 0;
    for (const incoming of page.threads) {
      if (incoming.removed) {
        this.threads.delete(incoming.id);
        this.#stale?.delete(incoming.id);
        continue;
      }
      if (this.#stale?.delete(incoming.id)) this.threads.delete(incoming.id);
      const known = this.threads.get(incoming.id);
      const thread = known ?? new Thread(incoming.id);
      arrived += incoming.entries.filter(
        (entry) => entry.senderId !== selfId && !entry.deleted && !thread.entries.has(entry.id),
      ).length;
      thread.apply(incoming);
      this.threads.set(incoming.id, thread);
    }
    this.token = page.next;
    if (!page.hasMore && this.#stale) {
      for (const id of this.#stale) this.threads.delete(id);
      this.#stale = null;
    }
    return arrived;
  }

  /** Takes a thread that this device has just created. */
  learn(state) {
    if (this.threads.has(state.id)) return;
    const thread = new Thread(state.id);
    thread.describe(state);
    this.threads.set(state.id, thread);
  }

  /** Threads, newest activity first. */
  ordered() {
    return [...this.threads.values()].sort((a, b) =>
      a.lastActivityAt === b.lastActivityAt
        ? a.id.localeCompare(b.id)
        : b.lastActivityAt.localeCompare(a.lastActivityAt),
    );
  }

  /** Everybody that any thread names, by user id. */
  people() {
    const people = new Map();
    for (const thread of this.threads.values()) {
      for (const person of thread.everyone()) {
        if (!people.has(person.userId) || person.name) {
          people.set(person.userId, nameOf(person));
        }
      }
    }
    return people;
  }
}

/** One thread: its state, the entries we hold, and the ranges of its sequence we don't. */
export class Thread {
  entries = new Map();
  /** Ranges (after, upTo] of sequence numbers never fetched, ascending. */
  holes = [];
  kind = "message";
  participants = [];
  formerParticipants = [];
  lastActivityAt = "";
  unreadCount = 0;
  readUpTo = 0;
  seq = 0;
  #coveredTo = null;

  constructor(id) {
    this.id = id;
  }

  /** Takes a thread as a changes page carries it. */
  apply(incoming) {
    this.describe(incoming);
    const { entries, entriesFrom, entriesTo } = incoming;
    const from = this.#coveredTo ?? Math.max(0, (incoming.visibleFrom ?? 1) - 1);
    if (entriesFrom > from) this.holes.push({ after: from, upTo: entriesFrom });
    this.#coveredTo = Math.max(this.#coveredTo ?? 0, entriesTo);
    for (const entry of entries) this.merge(entry);
  }

  /** Takes a thread's state without its entries, as GET and PUT of a thread answer. */
  describe(incoming) {
    const { entries, entriesFrom, entriesTo, ...state } = incoming;
    Object.assign(this, state);
  }

  /** Takes an entry from anywhere; the version with the higher place wins. */
  merge(entry) {
    const known = this.entries.get(entry.id);
    if (!known || entry.seq >= known.seq) this.entries.set(entry.id, entry);
  }

  /** Takes a page fetched backwards from the upper end of a hole. */
  fill(hole, entries, isEnd) {
    for (const entry of entries) this.merge(entry);
    const reached = isEnd || entries.length === 0 ? 0 : entries[0].seq - 1;
    this.holes = this.holes
      .map((each) => (each.upTo <= hole.upTo && each.upTo > reached ? { ...each, upTo: reached } : each))
      .filter((each) => each.upTo > each.after);
  }

  /** Entries in the order they were written. */
  ordered() {
    return [...this.entries.values()].sort((a, b) => a.createdSeq - b.createdSeq);
  }

  everyone() {
    return [...this.participants, ...this.formerParticipants];
  }

  /** The createdSeq of the newest entry we hold: how far a reader of this device has read. */
  newestSeq() {
    let newest = 0;
    for (const entry of this.entries.values()) newest = Math.max(newest, entry.createdSeq);
    return newest;
  }

  isUnread(entry, selfId) {
    return (
      entry.createdSeq > this.readUpTo &&
      entry.senderId !== selfId &&
      entry.kind !== "system" &&
      !entry.deleted
    );
  }
}

/** A person's name for display, from the most to the least chosen form. */
export function nameOf(person) {
  const name = person.name ?? {};
  const full = [name.givenName, name.familyName].filter(Boolean).join(" ");
  return name.display || full || name.nickname || person.userId;
}

/**
 * What a person sees of a thread: its entries with the operations that are still on their way laid
 * over them, unsent ones at the end, and a marker where entries are missing.
 */
export function timeline(thread, operations, selfId) {
  const own = operations.filter((operation) => operation.threadId === thread.id);
  const items = thread.ordered().map((entry) => overlay(entry, own));
  for (const hole of thread.holes) {
    const at = items.findIndex((item) => item.entry?.createdSeq > hole.after);
    const marker = { key: `hole-${hole.after}`, hole };
    items.splice(at < 0 ? items.length : at, 0, marker);
  }
  for (const operation of own) {
    if (operation.kind !== "send" || thread.entries.has(operation.entryId)) continue;
    const { entryId: id, text, at: sentAt } = operation;
    const entry = { id, senderId: selfId, kind: "text", text, sentAt, createdSeq: Infinity };
    items.push({ key: id, entry, operation });
  }
  return items;
}

function overlay(entry, operations) {
  const operation = operations.findLast(
    (each) => each.entryId === entry.id && (each.kind === "edit" || each.kind === "delete"),
  );
  let shown = entry;
  if (operation?.kind === "edit") shown = { ...entry, text: operation.text };
  if (operation?.kind === "delete") shown = { ...entry, text: undefined, deleted: true };
  return { key: entry.id, entry: shown, operation };
}
