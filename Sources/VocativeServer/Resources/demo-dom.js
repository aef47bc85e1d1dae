// Small tools for the document. Text goes in as text only: nothing here parses HTML.

/** Makes an element; `properties` are set as they are, `attributes` as attributes. */
export function make(tag, { attributes = {}, ...properties } = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets text only where it differs, so that live regions stay silent when nothing changed. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Makes the children of `parent` match `items` by key, in order, touching only what changed.
 * `build(item)` returns a new element for an item.
 */
export function reconcile(parent, items, build) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let at = parent.firstElementChild;
  for (const item of items) {
    const signature = JSON.stringify(item);
    let element = known.get(item.key);
    known.delete(item.key);
    if (element && element.signature !== signature) {
      const fresh = tagged(build(item), item.key, signature);
      if (at === element) at = fresh;
      replaceKeepingFocus(element, fresh);
      element = fresh;
    } else if (!element) {
      element = tagged(build(item), item.key, signature);
    }
    if (element === at) at = at.nextElementSibling;
    else parent.insertBefore(element, at);
  }
  for (const element of known.values()) element.remove();
}

function tagged(element, key, signature) {
  element.dataset.key = key;
  element.signature = signature;
  return element;
}

function replaceKeepingFocus(old, fresh) {
  const hadFocus = old.contains(document.activeElement);
  const role = document.activeElement?.dataset.action;
  old.replaceWith(fresh);
  if (!hadFocus) return;
  const target = role && fresh.querySelector(`[data-action="${role}"]`);
  (target ?? fresh).focus();
}

/** A time in the reader's own zone, with the exact instant for machines. */
export function timeElement(iso) {
  const date = new Date(iso);
  const text = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  return make("time", { dateTime: iso, textContent: text, title: date.toLocaleString() });
}

/** "Today", "Yesterday" or the date. */
export function dayName(iso, now = new Date()) {
  const date = new Date(iso);
  const midnight = (each) => new Date(each).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(date)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" });
}

/** A moment at a glance: the time of today, or the day. */
export function momentElement(iso) {
  const element = timeElement(iso);
  const day = dayName(iso);
  if (day !== "Today") element.textContent = day;
  return element;
}

/** Up to two initials of a name. */
export function initials(name) {
  const words = name.split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word][0].toLocaleUpperCase()).join("");
}

/** The tint of a user that is none of the page's own devices, the same everywhere. */
export function tint(userId) {
  let hash = 7;
  for (const character of userId) hash = (hash * 31 + character.codePointAt(0)) >>> 0;
  return String(2 + (hash % 4));
}
