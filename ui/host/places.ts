/**
 * Numbers the entries of the browser's history for assembly/model/place.ts, and restores the scroll position.
 */
import { route } from "./address.ts";

/** How long the page is scrolled again after each drawing while it is too short for the position. */
const PATIENCE_MS = 3_000;

export class Places {
  #last = 0;
  #top: number | undefined;
  #until = 0;

  constructor() {
    history.scrollRestoration = "manual";
    // When the user scrolls, clicks or presses a key, the position is no longer restored.
    const stop = () => {
      this.#top = undefined;
    };
    for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      document.addEventListener(event, stop, { passive: true });
    }
  }

  /** The number of the current entry. An entry without a number gets the next number. */
  get entry(): number {
    const known: unknown = history.state?.entry;
    if (typeof known === "number") {
      this.#last = Math.max(this.#last, known);
      return known;
    }
    this.#last += 1;
    history.replaceState({ entry: this.#last }, "");
    return this.#last;
  }

  go(path: string, replace: boolean): void {
    if (path === route()) return;
    if (!replace) {
      location.hash = path;
      return;
    }
    history.replaceState(history.state, "", `#${path}`);
    // replaceState() triggers no event, so the event is dispatched here, after the step of the application that called
    // this function.
    queueMicrotask(() => dispatchEvent(new HashChangeEvent("hashchange")));
  }

  get isScrolling(): boolean {
    return this.#top !== undefined;
  }

  scroll(top: number): void {
    this.#top = top;
    this.#until = performance.now() + PATIENCE_MS;
  }

  afterDraw(): void {
    const top = this.#top;
    if (top === undefined) return;
    scrollTo(0, top);
    const isThere = Math.abs(scrollY - top) < 2;
    if (isThere || performance.now() > this.#until) this.#top = undefined;
  }
}
