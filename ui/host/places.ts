/**
 * The history: a number for each of its entries, by which the application keeps what was there, and the
 * scrolling that goes with it.
 */
import { route } from "./address.ts";

/** A page that does not become long enough within this time is not scrolled. */
const PATIENCE_MS = 3_000;

export class Places {
  #last = 0;
  #top: number | undefined;
  #until = 0;

  constructor() {
    history.scrollRestoration = "manual";
    // Scrolling by hand ends the restoring.
    const stop = () => {
      this.#top = undefined;
    };
    for (const event of ["wheel", "touchmove", "pointerdown"]) {
      document.addEventListener(event, stop, { passive: true });
    }
  }

  /** The number of the entry at hand; a new one is given its own. */
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
    // Not now: the application is in the middle of a step.
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
