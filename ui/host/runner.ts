/**
 * Runs the steps of the application (calls of its exports) and draws at most once a frame. After a trap nothing in the
 * module can be trusted, so no further step runs: the page shows that it has stopped, and offers a reload.
 */
import type { App } from "./module.ts";

export class Runner {
  #app: App | undefined;
  #afterDraw: () => void = () => {};
  #drawing = false;
  #broken = false;

  attach(app: App, afterDraw: () => void): void {
    this.#app = app;
    this.#afterDraw = afterDraw;
  }

  /**
   * Runs a step and draws its result in the next frame, unless the step returns 0, which means that nothing has
   * changed. A background tab draws when it becomes visible.
   */
  run(step: (app: App) => unknown): void {
    if (this.#attempt(step) === 0 || this.#drawing || this.#broken) return;
    this.#drawing = true;
    requestAnimationFrame(() => this.flush());
  }

  /**
   * Draws what has changed. Called in the frame that run() has requested, and before a key is handled, so that the
   * focus is where the last key moved it.
   */
  flush(): void {
    if (!this.#drawing) return;
    this.#drawing = false;
    this.#attempt((app) => {
      app.render();
      // The minimal runtime collects garbage only here, while none of the module's code is running.
      app.__collect();
      this.#afterDraw();
    });
  }

  /** Shows the message that the page has stopped. Removes what was drawn: an open dialog would cover the message. */
  fail(error: unknown): void {
    if (this.#broken) return;
    this.#broken = true;
    console.error(error);
    document.getElementById("app")?.remove();
    const fatal = document.getElementById("fatal");
    if (fatal) fatal.hidden = false;
    const reload = fatal?.querySelector("button");
    reload?.addEventListener("click", () => location.reload());
    reload?.focus();
  }

  #attempt(step: (app: App) => unknown): unknown {
    if (this.#broken || !this.#app) return undefined;
    try {
      return step(this.#app);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }
}
