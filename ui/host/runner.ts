/**
 * Runs the steps of the application (calls of its exports) and draws their results. After a trap of WebAssembly nothing
 * in the module can be trusted, so after an error no further step runs.
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

  /** Runs a step. Unless the step returns 0 (nothing has changed), its result is drawn in the next frame. */
  run(step: (app: App) => unknown): void {
    if (this.#attempt(step) === 0 || this.#drawing || this.#broken) return;
    this.#drawing = true;
    requestAnimationFrame(() => this.flush());
  }

  /**
   * Draws what has changed. Also called before a key is handled, so that the focus is already where the previous key
   * has moved it.
   */
  flush(): void {
    if (!this.#drawing) return;
    this.#drawing = false;
    this.#attempt((app) => {
      app.render();
      // AssemblyScript's minimal runtime collects garbage only in this call. The call is safe here, because none of
      // the module's code is running.
      app.__collect();
      this.#afterDraw();
    });
  }

  /** Shows the message that the page has stopped. Removes what was drawn, because a dialog would cover the message. */
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
