// What one device still has to tell the service, in order. Every operation is an idempotent call
// with ids chosen here, so that repeating it after a lost answer changes nothing.

const ATTEMPTS = 4;

/** The waiting operations of a device; `perform` makes the call, `settled` hears each answer. */
export class Outbox {
  operations = [];
  #perform;
  #settled;
  #changed;
  #running = false;
  #open = false;
  #wake = null;

  constructor({ perform, settled, changed }) {
    this.#perform = perform;
    this.#settled = settled;
    this.#changed = changed;
  }

  add(operation) {
    const at = new Date().toISOString();
    this.operations.push({ ...operation, at, state: "pending", attempts: 0, problem: null });
    this.#changed();
    this.#run();
  }

  retry(operation) {
    operation.state = "pending";
    operation.attempts = 0;
    operation.problem = null;
    this.#changed();
    this.#run();
  }

  drop(operation) {
    this.operations = this.operations.filter((each) => each !== operation);
    this.#changed();
  }

  open() {
    this.#open = true;
    this.#wake?.();
    this.#run();
  }

  close() {
    this.#open = false;
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) await this.#attempt(next);
    } finally {
      this.#running = false;
    }
  }

  #next() {
    if (!this.#open) return undefined;
    return this.operations.find((operation) => operation.state === "pending");
  }

  async #attempt(operation) {
    operation.attempts += 1;
    try {
      const answer = await this.#perform(operation);
      this.drop(operation);
      this.#settled(operation, answer);
    } catch (error) {
      if (!this.#open) {
        operation.attempts -= 1;
        operation.unanswered = true;
        return;
      }
      operation.problem = error.message;
      if (error.isFinal || operation.attempts >= ATTEMPTS) operation.state = "failed";
      operation.unanswered = !error.isFinal;
      this.#changed();
      if (operation.state === "pending") await this.#pause(backoff(operation.attempts));
    }
  }

  #pause(milliseconds) {
    return new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, milliseconds);
    });
  }
}

/** Exponential back-off with full jitter, in milliseconds: at most 30 s. */
export function backoff(attempt) {
  return Math.random() * Math.min(30_000, 500 * 2 ** attempt);
}
