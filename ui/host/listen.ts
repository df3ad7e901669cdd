/**
 * Passes the browser's events to the application. An attribute names the action of an event: `data-click`,
 * `data-input`, `data-submit`, `data-key` (for the keys in `data-keys`) or `data-modal` (for the cancel of a dialog).
 * `data-arg` is the argument of the action.
 */
import { route } from "./address.ts";
import { listenToDrags } from "./drag.ts";
import type { Places } from "./places.ts";
import type { Runner } from "./runner.ts";

export function listen(runner: Runner, places: Places): void {
  const dispatch = (action: string | undefined, arg: string | undefined, value: string) => {
    if (action) runner.run((app) => app.dispatch(action, arg ?? "", value));
  };
  document.addEventListener("click", (event) => {
    closeMenus(event.target);
    const element = closest(event.target, "[data-click]");
    if (!element || isOnInnerControl(event, element)) return;
    dispatch(element.dataset["click"], element.dataset["arg"], modifier(event));
  });
  document.addEventListener("input", (event) => {
    const element = closest(event.target, "[data-input]");
    if (element) dispatch(element.dataset["input"], element.dataset["arg"], fieldValue(element));
  });
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target as HTMLElement;
    dispatch(form.dataset["submit"], form.dataset["arg"], "");
  });
  document.addEventListener("keydown", (event) => {
    runner.flush();
    if (event.key === "Escape" && closeMenus(null)) return;
    if (walkMenu(event)) return;
    const target = document.activeElement ?? document.body;
    const name = strokeOf(event);
    const holder = keyHolder(event, name, target);
    if (!holder) return;
    event.preventDefault();
    const row = closest(target, "[data-arg]");
    dispatch(holder.dataset["key"], row?.dataset["arg"], name);
  });
  // The application removes the dialog, so the browser must not close it.
  const cancel = (event: Event) => {
    const dialog = closest(event.target, "[data-modal]");
    if (!dialog) return;
    event.preventDefault();
    dispatch(dialog.dataset["modal"], "", "");
  };
  document.addEventListener("cancel", cancel, true);
  holdStill(runner);
  listenToDrags(runner);
  addEventListener("hashchange", () => {
    const { entry } = places;
    runner.run((app) => app.onAddress(route(), entry));
  });
  document.addEventListener("visibilitychange", () =>
    runner.run((app) => app.onVisible(!document.hidden)),
  );
}

/** Reports to the application whether the pointer or the focus is on something that must not move (`data-hold`). */
function holdStill(runner: Runner): void {
  let pointed = false;
  let focused = false;
  let isHeld = false;
  // A touch does not count: the touched element may keep the focus after the touch, so the hold would not end.
  let isTouch = false;
  const report = () => {
    if (isHeld === (pointed || focused)) return;
    isHeld = !isHeld;
    runner.run((app) => app.onHold(isHeld));
  };
  document.addEventListener("pointerover", (event) => {
    isTouch = event.pointerType === "touch";
    pointed = !isTouch && closest(event.target, "[data-hold]") !== null;
    report();
  });
  document.addEventListener("keydown", () => {
    isTouch = false;
  });
  document.documentElement.addEventListener("pointerleave", () => {
    pointed = false;
    report();
  });
  document.addEventListener("focusin", (event) => {
    focused = !isTouch && closest(event.target, "[data-hold]") !== null;
    report();
  });
  document.addEventListener("focusout", (event) => {
    focused = closest(event.relatedTarget, "[data-hold]") !== null;
    report();
  });
}

function closest(target: EventTarget | null, selector: string): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(selector) : null;
}

function modifier(event: MouseEvent): string {
  return event.shiftKey ? "shift" : "";
}

function fieldValue(element: HTMLElement): string {
  if (element instanceof HTMLInputElement && element.type === "checkbox") {
    return element.checked ? "on" : "";
  }
  return (element as HTMLInputElement).value;
}

/** Returns the name of a keystroke: `r`, `R` (with shift), `Space`, `Mod+k` (Ctrl or ⌘), `Shift+ArrowDown`. */
function strokeOf(event: KeyboardEvent): string {
  const name = event.key === " " ? "Space" : event.key;
  if (event.ctrlKey || event.metaKey) return `Mod+${name.length > 1 ? name : name.toLowerCase()}`;
  return event.shiftKey && name.length > 1 ? `Shift+${name}` : name;
}

/** Returns the element that handles this key; null: none, or the focused control uses the key itself. */
function keyHolder(event: KeyboardEvent, name: string, target: Element): HTMLElement | null {
  if (event.altKey || event.isComposing) return null;
  const isTyping = isEditable(target);
  const isNamed = target instanceof HTMLElement && takes(target, name);
  const isOwn = name === "Space" || name === "Enter";
  if (isOwn && !isNamed && target.closest("button, a, input, summary")) return null;
  for (let e: Element | null = target; e; e = e.parentElement) {
    // While the user types in a field, an element around the field handles only Mod+Enter.
    const isHandled = !isTyping || e === target || name === "Mod+Enter";
    if (e instanceof HTMLElement && isHandled && takes(e, name)) return e;
    if (e instanceof HTMLDialogElement) return null;
  }
  const works = !isTyping || name === "Mod+k" || name === "Escape";
  const everywhere = document.querySelector<HTMLElement>("[data-everywhere]");
  return works && everywhere && takes(everywhere, name) ? everywhere : null;
}

/**
 * Whether a click is on a link or control inside `element`, or `element` is a table row and text is selected. A link
 * that only names the row (`data-names`) counts as the row, unless the click opens a new tab or window.
 */
function isOnInnerControl(event: MouseEvent, element: HTMLElement): boolean {
  const inner = closest(event.target, "a[href], button, input, label, select, summary");
  if (inner !== null && inner !== element && element.contains(inner)) {
    const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (inner.dataset["names"] === undefined || opensElsewhere) return true;
    event.preventDefault();
  }
  return element.tagName === "TR" && String(getSelection()) !== "";
}

/** Closes the open menus. Returns whether a menu was closed. */
function closeMenus(target: EventTarget | null): boolean {
  let closed = false;
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details[data-menu][open]")) {
    const isInside = target instanceof Node && menu.contains(target);
    const isItem = closest(target, ".menu a, .menu button") !== null;
    if (isInside && !isItem) continue;
    menu.open = false;
    closed = true;
    // If the item opens a dialog, the focus returns to the menu's button when the dialog is closed.
    if (target === null || isItem) menu.querySelector("summary")?.focus();
  }
  return closed;
}

/** Moves the focus in a menu with the arrow keys, Home and End. */
function walkMenu(event: KeyboardEvent): boolean {
  const menu = closest(event.target, "details[data-menu]") as HTMLDetailsElement | null;
  const step = { ArrowDown: 1, ArrowUp: -1, Home: 0, End: 0 }[event.key];
  if (menu === null || step === undefined || isEditable(event.target as Element)) return false;
  if (!menu.open && step === 0) return false;
  menu.open = true;
  const items = [...menu.querySelectorAll<HTMLElement>(".menu :is(a, button, input)")];
  const at = items.indexOf(event.target as HTMLElement);
  const to =
    event.key === "End" || (at < 0 && step < 0) ? items.length - 1 : step === 0 ? 0 : at + step;
  items.at(to % items.length)?.focus();
  event.preventDefault();
  return true;
}

function takes(element: HTMLElement, name: string): boolean {
  return element.dataset["keys"]?.split(" ").includes(name) ?? false;
}

function isEditable(target: Element): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
