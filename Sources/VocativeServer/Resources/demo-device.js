// One device: an independent client with its own token, replica, outbox and event stream.
import { Feed, Thread } from "./demo-feed.js";
import { Outbox, backoff } from "./demo-outbox.js";
import { readEvents } from "./demo-sse.js";

const SILENCE_MS = 40_000;
const CATCH_UP_MS = 2_000;
const PAGE = 30;

/** An answer of the service that is not a success, with its problem details (RFC 9457). */
class Problem extends Error {
  constructor(status, details) {
    super(details?.detail || details?.title || `The service answered ${status}.`);
    this.status = status;
    /** Whether asking again is of no use. */
    this.isFinal = status < 500 && status !== 429 && status !== 408 && status !== 401;
  }
}

export class Device {
  feed = new Feed();
  /** "connecting", "live", "reconnecting" or "offline". */
  connection = "offline";
  /** The last thing about the connection that is worth a line of text. */
  notice = "";
  #session;
  #renewSession;
  #onChange;
  #onWire;
  #link = null;
  #changePending = false;

  constructor(session, { renewSession, onChange, onWire }) {
    this.#session = session;
    this.#renewSession = renewSession;
    this.#onChange = onChange;
    this.#onWire = onWire;
    this.outbox = new Outbox({
      perform: (operation) => this.#call(operation.method, operation.path, operation.body),
      settled: (operation, answer) => this.#settle(operation, answer),
      changed: () => this.#changed(),
    });
  }

  get userId() {
    return this.#session.userId;
  }

  get isOnline() {
    return this.#link !== null;
  }

  goOnline() {
    if (this.#link) return;
    this.#link = new AbortController();
    this.outbox.open();
    this.#follow(this.#link.signal);
  }

  goOffline() {
    this.#link?.abort();
    this.#link = null;
    this.outbox.close();
    this.#become("offline", "Offline. What you write waits here.");
  }

  // MARK: What a person does

  send(threadId, text) {
    const entryId = crypto.randomUUID();
    const path = `/v1/threads/${threadId}/entries/${entryId}`;
    const body = { kind: "text", text };
    this.outbox.add({ kind: "send", method: "PUT", path, body, threadId, entryId, text });
  }

  edit(threadId, entryId, text) {
    const path = `/v1/threads/${threadId}/entries/${entryId}`;
    this.outbox.add({ kind: "edit", method: "PATCH", path, body: { text }, threadId, entryId, text });
  }

  delete(threadId, entryId) {
    const path = `/v1/threads/${threadId}/entries/${entryId}`;
    this.outbox.add({ kind: "delete", method: "DELETE", path, threadId, entryId });
  }

  /** Gives an operation up. A send whose answer was lost may have arrived: it is deleted there. */
  discard(operation) {
    this.outbox.drop(operation);
    if (operation.kind === "send" && operation.unanswered) {
      this.delete(operation.threadId, operation.entryId);
    }
  }

  markRead(threadId) {
    const upTo = this.feed.threads.get(threadId)?.newestSeq() ?? 0;
    const waiting = this.outbox.operations.some(
      (each) => each.kind === "read" && each.threadId === threadId && each.upTo >= upTo,
    );
    if (waiting) return;
    const path = `/v1/threads/${threadId}/read`;
    this.outbox.add({ kind: "read", method: "PUT", path, body: { upTo }, threadId, upTo });
  }

  /** Starts a thread with a first message; returns the new thread's id. */
  startThread(userIds, subject, text) {
    const threadId = crypto.randomUUID();
    const participants = userIds.map((userId) => ({ userId }));
    const body = { kind: "message", ...(subject && { subject }), participants };
    const path = `/v1/threads/${threadId}`;
    this.outbox.add({ kind: "create", method: "PUT", path, body, threadId, subject, userIds });
    this.send(threadId, text);
    return threadId;
  }

  addPerson(threadId, userId) {
    const path = `/v1/threads/${threadId}/participants/${encodeURIComponent(userId)}`;
    this.outbox.add({ kind: "people", method: "PUT", path, body: {}, threadId });
  }

  removePerson(threadId, userId) {
    const path = `/v1/threads/${threadId}/participants/${encodeURIComponent(userId)}`;
    this.outbox.add({ kind: "people", method: "DELETE", path, threadId });
  }

  /** Fetches the newest entries of a hole. */
  async fetchMissing(threadId, hole) {
    const path = `/v1/threads/${threadId}/entries?before=${hole.upTo + 1}&limit=${PAGE}`;
    try {
      const page = await this.#call("GET", path);
      this.feed.threads.get(threadId)?.fill(hole, page.entries, page.next === undefined);
    } catch (error) {
      this.notice = `Could not load earlier messages: ${error.message}`;
    }
    this.#changed();
  }

  /** The threads to show, newest activity first: also those that are still to be created. */
  threads() {
    const waiting = this.outbox.operations
      .filter((each) => each.kind === "create" && !this.feed.threads.has(each.threadId))
      .map((each) => this.#draft(each));
    return [...waiting, ...this.feed.ordered()];
  }

  #draft(operation) {
    const thread = new Thread(operation.threadId);
    const participants = [this.userId, ...operation.userIds].map((userId) => ({ userId }));
    const { subject, at: lastActivityAt } = operation;
    thread.describe({ subject, participants, lastActivityAt });
    return thread;
  }

  /** The unread count to show: a read marker on its way counts as set. */
  unreadCount(thread) {
    const isRead = this.outbox.operations.some(
      (each) => each.kind === "read" && each.threadId === thread.id && each.state === "pending",
    );
    return isRead ? 0 : thread.unreadCount;
  }

  #settle(operation, answer) {
    if (operation.kind === "create") this.feed.learn(answer);
    const thread = this.feed.threads.get(operation.threadId);
    if (operation.kind === "send" || operation.kind === "edit") thread?.merge(answer);
    if (operation.kind === "delete") this.#bury(thread, operation.entryId);
    if (operation.kind === "read" && thread) {
      thread.readUpTo = Math.max(thread.readUpTo, operation.upTo);
      thread.unreadCount = [...thread.entries.values()].filter((entry) =>
        thread.isUnread(entry, this.userId),
      ).length;
    }
    this.#changed();
  }

  #bury(thread, entryId) {
    const entry = thread?.entries.get(entryId);
    if (entry) thread.merge({ ...entry, text: undefined, attachments: undefined, deleted: true });
  }

  // MARK: The stream

  async #follow(signal) {
    let failures = 0;
    while (!signal.aborted) {
      let wait = null;
      const resumesAt = this.feed.token;
      this.#become(failures > 0 ? "reconnecting" : "connecting", this.notice);
      try {
        const response = await this.#openStream(signal);
        failures = 0;
        wait = await this.#readStream(response, resumesAt);
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === 410 || error.status === 400) {
          // Nothing is thrown away: each thread stays until the new pages replace it.
          this.feed.startAnew();
          this.notice = "The place in the feed has expired: comparing everything anew.";
          continue;
        }
        if (error.status === 401) await this.#renew();
        failures += 1;
        this.#become("reconnecting", "The connection was lost. Trying again.");
      }
      if (signal.aborted) return;
      await pause(Math.max(wait ?? 0, backoff(failures)), signal);
    }
  }

  async #openStream(signal) {
    const headers = { Accept: "text/event-stream" };
    if (this.feed.token) headers["Last-Event-ID"] = this.feed.token;
    return this.#fetch("GET", "/v1/events", { headers, signal });
  }

  async #readStream(response, resumesAt) {
    const openedAt = performance.now();
    let caughtUp = 0;
    if (resumesAt) this.#become("live", `Resumed from ${short(resumesAt)}. Nothing was missed.`);
    const onEvent = (event) => {
      if (event.type === "reconnect") return false;
      if (event.type !== "changes") return true;
      const page = JSON.parse(event.data);
      const arrived = this.feed.apply(page, this.userId);
      this.#wire({ kind: "event", title: "event: changes", detail: describe(page), body: event.data });
      caughtUp += arrived;
      const isCatchingUp = resumesAt && performance.now() - openedAt < CATCH_UP_MS;
      if (isCatchingUp) {
        this.notice = `Caught up from ${short(resumesAt)}: ${news(caughtUp)}.`;
      } else {
        this.notice = "";
      }
      this.#become(page.hasMore ? "connecting" : "live", this.notice);
      return true;
    };
    return readEvents(response.body, { silenceMs: SILENCE_MS, onEvent });
  }

  // MARK: Calls

  async #call(method, path, body) {
    const signal = this.#link?.signal;
    if (!signal) throw new Error("This device is offline.");
    const headers = body === undefined ? {} : { "Content-Type": "application/json" };
    const json = body === undefined ? undefined : JSON.stringify(body);
    try {
      const response = await this.#fetch(method, path, { headers, body: json, signal });
      return response.status === 204 ? null : await response.json();
    } catch (error) {
      if (error.status === 401) await this.#renew();
      throw error;
    }
  }

  async #fetch(method, path, { headers, body, signal }) {
    const authorization = { Authorization: `Bearer ${this.#session.token}` };
    const request = { kind: "request", method, path, headers, requestBody: body };
    let response;
    try {
      response = await fetch(path, {
        method,
        body,
        signal,
        headers: { ...headers, ...authorization },
        cache: "no-store",
      });
    } catch (error) {
      if (!signal.aborted) this.#wire({ ...request, detail: "no answer" });
      throw signal.aborted ? error : new Error("The service did not answer.");
    }
    this.#wire({ ...request, detail: String(response.status) });
    if (response.ok) return response;
    const details = await response.json().catch(() => null);
    throw new Problem(response.status, details);
  }

  async #renew() {
    try {
      this.#session = await this.#renewSession(this.userId, this.#session.device);
    } catch {
      this.notice = "Signing in again did not succeed.";
    }
  }

  #wire(record) {
    this.#onWire({ ...record, at: new Date(), device: this.#session });
  }

  #become(connection, notice) {
    this.connection = connection;
    this.notice = notice;
    this.#changed();
  }

  /** Tells the view once for all that happens in one turn. */
  #changed() {
    if (this.#changePending) return;
    this.#changePending = true;
    queueMicrotask(() => {
      this.#changePending = false;
      this.#onChange();
    });
  }
}

/** Waits, or less when the device goes offline or the browser finds its network again. */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const listening = new AbortController();
    const end = () => {
      clearTimeout(timer);
      listening.abort();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { signal: listening.signal });
    addEventListener("online", end, { signal: listening.signal });
  });
}

function short(token) {
  return `token …${token.slice(-6)}`;
}

function news(count) {
  if (count === 0) return "no new messages";
  return count === 1 ? "1 new message" : `${count} new messages`;
}

function describe(page) {
  const entries = page.threads.reduce((sum, thread) => sum + (thread.entries?.length ?? 0), 0);
  const counted = (count, one, many) => `${count} ${count === 1 ? one : many}`;
  return `${counted(page.threads.length, "thread", "threads")}, ${counted(entries, "entry", "entries")}`;
}
