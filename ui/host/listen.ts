/**
 * One listener for each kind of event, on the document. An element says in attributes what it
 * wants: `data-click`, `data-input`, `data-submit`, `data-key` with `data-keys`, `data-modal`, and
 * `data-arg` for what it is about.
 */
import { route } from "./address.ts";
import type { Runner } from "./runner.ts";

export function listen(runner: Runner): void {
  const dispatch = (action: string | undefined, arg: string | undefined, value: string) => {
    if (action) runner.run((app) => app.dispatch(action, arg ?? "", value));
  };
  document.addEventListener("click", (event) => {
    const element = closest(event.target, "[data-click]");
    if (element) dispatch(element.dataset["click"], element.dataset["arg"], modifier(event));
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
    const target = document.activeElement ?? document.body;
    const holder = keyHolder(event, target);
    if (!holder) return;
    event.preventDefault();
    const row = closest(target, "[data-arg]");
    dispatch(holder.dataset["key"], row?.dataset["arg"], event.key);
  });
  // Escape asks the application to close its dialog; the next picture is without it.
  const cancel = (event: Event) => {
    const dialog = closest(event.target, "[data-modal]");
    if (!dialog) return;
    event.preventDefault();
    dispatch(dialog.dataset["modal"], "", "");
  };
  document.addEventListener("cancel", cancel, true);
  holdStill(runner);
  window.addEventListener("hashchange", () => runner.run((app) => app.navigated(route())));
  document.addEventListener("visibilitychange", () =>
    runner.run((app) => app.showed(!document.hidden)),
  );
}

/** Tells the application whether the pointer or the focus is on what must not move (`data-hold`). */
function holdStill(runner: Runner): void {
  let pointed = false;
  let focused = false;
  let held = false;
  const tell = () => {
    if (held === (pointed || focused)) return;
    held = !held;
    runner.run((app) => app.held(held));
  };
  document.addEventListener("pointerover", (event) => {
    pointed = closest(event.target, "[data-hold]") !== null;
    tell();
  });
  document.documentElement.addEventListener("pointerleave", () => {
    pointed = false;
    tell();
  });
  document.addEventListener("focusin", (event) => {
    focused = closest(event.target, "[data-hold]") !== null;
    tell();
  });
  document.addEventListener("focusout", (event) => {
    focused = closest(event.relatedTarget, "[data-hold]") !== null;
    tell();
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

/** The element that wants this key, if the key isn't already somebody else's. */
function keyHolder(event: KeyboardEvent, target: Element): HTMLElement | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return null;
  const name = event.key === " " ? "Space" : event.key;
  if (isEditable(target)) return null;
  if ((name === "Space" || name === "Enter") && target.closest("button, a, input, summary")) {
    return null;
  }
  for (let e: Element | null = target; e; e = e.parentElement) {
    if (e instanceof HTMLElement && takes(e, name)) return e;
    if (e instanceof HTMLDialogElement) return null;
  }
  const everywhere = document.querySelector<HTMLElement>("[data-everywhere]");
  return everywhere && takes(everywhere, name) ? everywhere : null;
}

function takes(element: HTMLElement, name: string): boolean {
  return element.dataset["keys"]?.split(" ").includes(name) ?? false;
}

function isEditable(target: Element): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
