/**
 * Runs the page's real application (ui/assembly, compiled) without a browser, a network or a real clock. A test
 * dispatches actions, answers requests, and reads the drawn page as plain objects.
 */
import { access, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { instantiate } from "../../ui/host/module.ts";

const wasmUrl = new URL("../../dist/ui/admin_ui_bg.wasm", import.meta.url);
const buildUrl = new URL("../../ui/build.mjs", import.meta.url);

export interface Element {
  readonly tag: string;
  readonly attrs: Record<string, string | boolean>;
  readonly children: Child[];
}
export type Child = Element | string | null;

export interface Request {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly headers: string;
  readonly body: string;
}

interface App {
  readonly memory: WebAssembly.Memory;
  __collect(): void;
  init(address: string, entry: number, theme: string): void;
  onAddress(address: string, entry: number): void;
  dispatch(action: string, arg: string, value: string): void;
  onTimer(action: string, arg: string): void;
  onAnswer(id: number, status: number, retryAfter: string, body: string, bytes?: number): void;
  onStreamOpen(): void;
  onStreamClose(status: number): void;
  onEvent(event: string, data: string): void;
  onVisible(visible: boolean): void;
  onHold(on: boolean): void;
  render(): void;
}

export interface Timer {
  readonly at: number;
  readonly action: string;
  readonly arg: string;
}

/** Sunday, 2026-03-01 12:00:00 UTC. */
export const NOON = Date.UTC(2026, 2, 1, 12);

export class Page {
  readonly requests: Request[] = [];
  readonly timers: Timer[] = [];
  readonly storage: Map<string, string>;
  readonly navigations: string[] = [];
  readonly copied: string[] = [];
  readonly downloads: string[] = [];
  /** The action that reports the result of the last download. */
  saved = "";
  readonly preferences = new Map<string, string>();
  subscriptions: string[] = [];
  streaming = false;
  title = "";
  /** The text over the icon of the browser's tab. */
  mark = "";
  /** The scroll position. */
  scroll = 0;
  /** The number of the current entry in the history. */
  entry = 1;
  backs = 0;
  /** How often the stored answers were deleted. */
  cleared = 0;
  theme = "";
  focus = "";
  now = NOON;
  /** How far the local clock is ahead of UTC, in minutes. */
  zone = 60;
  /** Whether the window is wide enough to open a job beside the list. */
  wide = false;
  app!: App;
  #picture: Child[] = [];

  constructor(storage: Map<string, string> = new Map()) {
    this.storage = storage;
  }

  readonly host = {
    draw: (ops: number, count: number, units: number, size: number) => {
      this.#picture = readPicture(this.app.memory, ops, count, units, size);
    },
    now: () => this.now,
    zoneOffset: () => this.zone,
    request: (id: number, method: string, path: string, headers: string, body: string) => {
      this.requests.push({ id, method, path, headers, body });
    },
    subscribe: (path: string, headers: string) => {
      this.streaming = true;
      this.subscriptions.push(`${path} ${headers}`);
    },
    unsubscribe: () => {
      this.streaming = false;
    },
    after: (ms: number, action: string, arg: string) => {
      this.timers.push({ at: this.now + ms, action, arg });
    },
    navigate: (path: string) => {
      this.navigations.push(path);
    },
    back: () => {
      this.backs++;
    },
    scrolled: () => this.scroll,
    scroll: (top: number) => {
      this.scroll = top;
    },
    focused: () => this.focus,
    attended: () => false,
    isWide: () => this.wide,
    mark: (text: string) => {
      this.mark = text;
    },
    reload: () => {},
    title: (text: string) => {
      this.title = text;
    },
    focus: (id: string) => {
      this.focus = id;
    },
    copy: (text: string) => {
      this.copied.push(text);
    },
    theme: (name: string) => {
      this.theme = name;
    },
    prefer: (key: string, value: string) => {
      this.preferences.set(key, value);
    },
    preferred: (key: string) => this.preferences.get(key) ?? "",
    save: (path: string, done: string) => {
      this.downloads.push(path);
      this.saved = done;
    },
    clearAnswers: () => {
      this.cleared += 1;
    },
    remember: (key: string, value: string) => {
      if (value) this.storage.set(key, value);
      else this.storage.delete(key);
    },
    pageUrl: () => "http://admin.example/",
    download: (path: string) => {
      this.downloads.push(path);
    },
    recall: (key: string) => this.storage.get(key) ?? "",
  };

  /** Draws the page, and returns its top-level elements and texts. */
  get view(): Child[] {
    this.app.render();
    this.app.__collect();
    return this.#picture;
  }

  get text(): string {
    return textOf(this.view);
  }

  all(match: (element: Element) => boolean): Element[] {
    return collect(this.view, match);
  }

  one(match: (element: Element) => boolean): Element {
    const found = this.all(match);
    if (found.length !== 1) throw new Error(`${found.length} elements match, not one`);
    return found[0] as Element;
  }

  byId(id: string): Element {
    return this.one((e) => e.attrs["id"] === id);
  }

  has(id: string): boolean {
    return this.all((e) => e.attrs["id"] === id).length > 0;
  }

  button(label: string): Element {
    return this.one((e) => e.tag === "button" && spokenOf([e]) === label);
  }

  hasButton(label: string): boolean {
    return this.all((e) => e.tag === "button" && spokenOf([e]) === label).length > 0;
  }

  /** Dispatches the action of a click on the button. */
  click(label: string): void {
    const { attrs } = this.button(label);
    if (attrs["disabled"]) throw new Error(`the button "${label}" is disabled`);
    const form = attrs["type"] === "submit";
    if (form) this.app.dispatch(this.dialogForm(), "", "");
    else this.app.dispatch(String(attrs["data-click"]), String(attrs["data-arg"] ?? ""), "");
  }

  type(field: string, value: string): void {
    const { attrs } = this.byId(`field-${field}`);
    this.app.dispatch(String(attrs["data-input"]), String(attrs["data-arg"] ?? ""), value);
  }

  get dialog(): Element | undefined {
    return this.all((e) => e.tag === "dialog")[0];
  }

  get dialogText(): string {
    return this.dialog ? textOf([this.dialog]) : "";
  }

  get notices(): string[] {
    return this.all((e) => String(e.attrs["class"]).startsWith("notice ")).map((e) => textOf([e]));
  }

  /** Returns the last request whose path begins with `start`. */
  requestOf(start: string): Request {
    const found = this.requests.findLast((request) => request.path.startsWith(start));
    if (!found) throw new Error(`no request for ${start}`);
    return found;
  }

  /** Answers the last request whose path begins with `start`. `bytes`: the size of the body as transferred. */
  answer(start: string, body: unknown, status = 200, retryAfter = "", bytes = 0): void {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    this.app.onAnswer(this.requestOf(start).id, status, retryAfter, text, bytes);
  }

  /** Navigates to an address, in a new entry of the history unless `entry` is given. */
  go(address: string, entry = this.#lastEntry + 1): void {
    this.#lastEntry = Math.max(this.#lastEntry, entry);
    this.entry = entry;
    this.app.onAddress(address, entry);
  }
  #lastEntry = 1;

  /** Advances the clock, and runs the timers that become due. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      this.timers.sort((a, b) => a.at - b.at);
      const next = this.timers[0];
      if (!next || next.at > end) break;
      this.timers.shift();
      this.now = next.at;
      this.app.onTimer(next.action, next.arg);
    }
    this.now = end;
  }

  private dialogForm(): string {
    const ofDialog = (e: Element) => /^(dialog|access)\./.test(String(e.attrs["data-submit"]));
    const form = this.one((e) => e.tag === "form" && ofDialog(e));
    return String(form.attrs["data-submit"]);
  }
}

/** Starts the application. Does not answer the application's request for its session. */
export async function start(address = "/", storage?: Map<string, string>): Promise<Page> {
  const page = new Page(storage);
  page.app = await instantiate(await wasm(), page.host);
  page.app.init(address, 1, "system");
  return page;
}

let compiled: Promise<WebAssembly.Module> | undefined;

function wasm(): Promise<WebAssembly.Module> {
  compiled ??= readFile(wasmUrl).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}

/** Builds the client if dist/ui does not contain it. */
export async function ensureBuilt(): Promise<void> {
  try {
    await access(wasmUrl);
  } catch {
    const { buildUi } = await import(buildUrl.href);
    await buildUi(fileURLToPath(new URL(".", wasmUrl)));
  }
}

export function textOf(children: Child[]): string {
  return children
    .map((child) =>
      child === null ? "" : typeof child === "string" ? child : textOf(child.children),
    )
    .join("");
}

/** Returns the text without the parts that screen readers skip. */
function spokenOf(children: Child[]): string {
  return children
    .map((child) => {
      if (child === null || typeof child === "string") return child ?? "";
      return child.attrs["aria-hidden"] === "true" ? "" : spokenOf(child.children);
    })
    .join("");
}

export function collect(children: Child[], match: (element: Element) => boolean): Element[] {
  return children.flatMap((child) => {
    if (child === null || typeof child === "string") return [];
    const inner = collect(child.children, match);
    return match(child) ? [child, ...inner] : inner;
  });
}

/** Builds the elements from the operations that ui/assembly/lib/view.ts has written to the memory. */
function readPicture(
  memory: WebAssembly.Memory,
  opsAt: number,
  count: number,
  unitsAt: number,
  size: number,
): Child[] {
  const utf16 = new TextDecoder("utf-16le");
  const ops = new Uint32Array(memory.buffer, opsAt, count);
  const text = utf16.decode(new Uint8Array(memory.buffer, unitsAt, size * 2));
  const name = (address: number) => {
    const bytes = new Uint32Array(memory.buffer, address - 4, 1)[0] ?? 0;
    return utf16.decode(new Uint8Array(memory.buffer, address, bytes));
  };
  let element: Element = { tag: "", attrs: {}, children: [] };
  const parents: { element: Element; end: number }[] = [];
  let at = 0;
  let i = 0;
  const word = () => ops[i++] ?? 0;
  const string = () => {
    const start = at;
    at += word();
    return text.slice(start, at);
  };
  const steps: Record<number, () => void> = {
    1: () => {
      const opened: Element = { tag: name(word()), attrs: {}, children: [] };
      const size = word();
      word();
      element.children.push(opened);
      parents.push({ element, end: i + size });
      element = opened;
    },
    2: () => element.children.push(string()),
    3: () => {
      element.attrs[name(word())] = string();
    },
    4: () => {
      element.attrs[name(word())] = word() === 1;
    },
    5: () => element.children.push(null),
  };
  while (i < count) {
    steps[word()]?.();
    while (parents.at(-1)?.end === i) element = parents.pop()?.element ?? element;
  }
  return element.children;
}
