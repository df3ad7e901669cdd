/** The functions that the application, a WebAssembly module, imports. assembly/host.ts declares them. */
import { clearAnswers } from "./answers.ts";
import { copyText } from "./clipboard.ts";
import type { EventStream } from "./event-stream.ts";
import { setMark } from "./mark.ts";
import { Picture } from "./picture.ts";
import type { Places } from "./places.ts";
import { saveFile, saveFrom, sendRequest } from "./request.ts";
import type { Runner } from "./runner.ts";
import { prefer, preferred, recall, remember } from "./storage.ts";
import { setTheme } from "./theme.ts";

export class PageHost {
  readonly #runner: Runner;
  readonly #stream: EventStream;
  readonly #root = document.getElementById("app") as HTMLElement;
  #picture: Picture | undefined;
  readonly #places: Places;
  #focusNext = "";
  #hadFocus = false;
  /** The marked entry of an open list, such as the palette's. */
  #marked: Element | null = null;
  /** The last result of `now`. */
  #now = 0;
  /** The milliseconds that `now` adds to the browser's clock. */
  #added = 0;

  constructor(runner: Runner, stream: EventStream, places: Places) {
    this.#runner = runner;
    this.#stream = stream;
    this.#places = places;
  }

  attach(memory: WebAssembly.Memory): void {
    this.#picture = new Picture(memory, this.#root);
  }

  /** Moves the focus to the requested element; without a request, to the title if the focused element was removed. */
  afterDraw(): void {
    const isLost = this.#hadFocus && document.activeElement === document.body;
    const next = document.getElementById(this.#focusNext || (isLost ? "page-title" : ""));
    // If the element is the button of a menu, the menu opens.
    if (next?.parentElement instanceof HTMLDetailsElement) next.parentElement.open = true;
    // The page scrolls to the element only if the focus was requested and no scroll position is being restored.
    next?.focus({ preventScroll: !this.#focusNext || this.#places.isScrolling });
    this.#focusNext = "";
    this.#places.afterDraw();
    const marked = document.querySelector(".opt.on");
    if (marked !== this.#marked) marked?.scrollIntoView({ block: "nearest" });
    this.#marked = marked;
  }

  imports() {
    const runner = this.#runner;
    return {
      draw: (ops: number, opCount: number, units: number, unitCount: number) => {
        this.#hadFocus = document.activeElement !== document.body;
        this.#picture?.draw(ops, opCount, units, unitCount);
      },
      // The time never goes back. Otherwise, after the clock was set back by an hour, old data would look fresh for
      // an hour.
      now: () => {
        this.#added = Math.max(this.#added, this.#now - Date.now());
        this.#now = this.#added + Date.now();
        return this.#now;
      },
      zoneOffset: (at: number) => -new Date(at).getTimezoneOffset() || 0,
      request: (id: number, method: string, path: string, headers: string, body: string) => {
        void sendRequest(method, path, headers, body).then((answer) =>
          runner.run((app) =>
            app.onAnswer(id, answer.status, answer.retryAfter, answer.body, answer.bytes),
          ),
        );
      },
      subscribe: (path: string, headers: string) => this.#stream.open(path, headers),
      unsubscribe: () => this.#stream.close(),
      after: (ms: number, action: string, arg: string) => {
        setTimeout(() => runner.run((app) => app.onTimer(action, arg)), ms);
      },
      navigate: (path: string, replace: boolean | number) => this.#places.go(path, !!replace),
      back: () => history.back(),
      scrolled: () => scrollY,
      scroll: (top: number) => this.#places.scroll(top),
      focused: () => document.activeElement?.id ?? "",
      attended: (id: string) => {
        const element = document.getElementById(id);
        return element?.matches(":hover, :focus-within");
      },
      isWide: () => matchMedia("(width >= 1100px)").matches,
      mark: setMark,
      reload: () => location.reload(),
      title: (text: string) => {
        document.title = text;
      },
      focus: (id: string) => {
        this.#focusNext = id;
      },
      copy: (text: string) => {
        void copyText(text).then((done) =>
          runner.run((app) => app.dispatch("app.copied", text, done ? "yes" : "no")),
        );
      },
      theme: setTheme,
      prefer,
      preferred,
      save: (path: string, done: string) => {
        void saveFrom(path).then((fault) => runner.run((app) => app.dispatch(done, path, fault)));
      },
      clearAnswers,
      remember,
      recall,
      pageUrl: () => location.href.split("#", 1)[0] ?? "",
      download: (path: string, headers: string, name: string) => {
        void saveFile(path, headers, name).then((done) => {
          if (!done) runner.run((app) => app.dispatch("app.not-saved", name, ""));
        });
      },
    };
  }
}
