/**
 * Numbers the entries of the browser's history. The application stores places by these numbers
 * (assembly/model/place.ts). Also scrolls the page to the position that the application requests, such as that of a
 * restored place.
 */
import { route } from "./address.ts";

/**
 * For at most this time, each drawing scrolls the page to the requested position again, until the page is long enough
 * for it.
 */
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
    // replaceState() triggers no `hashchange`, so the event is dispatched here. The microtask delays the event until
    // the code of the application that has called go() returns.
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
