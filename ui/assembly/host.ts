/**
 * The functions that the application imports from its host, host/page-host.ts. The compiler takes the import
 * module's name from this file's name: `host`.
 */
export declare function draw(ops: usize, opCount: i32, units: usize, unitCount: i32): void;

export declare function now(): f64;

/** Minutes that the local clock is ahead of UTC at a time. */
export declare function zoneOffset(at: f64): i32;

/** Headers are lines of `name: value`; the answer comes to `replied` with the same id. */
export declare function request(
  id: i32,
  method: string,
  path: string,
  headers: string,
  body: string,
): void;

/** Opens the event stream, in place of the one that may be open. */
export declare function subscribe(path: string, headers: string): void;

export declare function unsubscribe(): void;

/** Dispatches an action later. */
export declare function after(ms: i32, action: string, arg: string): void;

/** Changes the address; `replace` leaves no entry in the history. */
export declare function navigate(path: string, replace: bool): void;

/** Goes back one entry of the history. */
export declare function back(): void;

/** How far the page is scrolled, in pixels. */
export declare function scrolled(): f64;

/** Scrolls after the next draw, or as soon as the page is long enough. */
export declare function scroll(top: f64): void;

/** The id of what has the focus. */
export declare function focused(): string;

/** Whether the pointer or the focus is in the element of this id. */
export declare function attended(id: string): bool;

export declare function title(text: string): void;

/** Puts a short text on the page's icon; the empty string takes it away. */
export declare function mark(text: string): void;

/** Loads the page anew. */
export declare function reload(): void;

/** Whether there is room for something beside a list. */
export declare function isWide(): bool;

/** Moves the focus after the next draw. */
export declare function focus(id: string): void;

/** Copies a text, then dispatches `app.copied` with "yes" or "no". */
export declare function copy(text: string): void;

/** `system`, `light` or `dark`; the host remembers it. */
export declare function theme(name: string): void;

/** Keeps a preference in this browser: nothing secret, no data. */
export declare function prefer(key: string, value: string): void;

export declare function preferred(key: string): string;

/**
 * Has the browser itself save what the server gives at a path, however large. The action `done` follows, with
 * why it is not given, or the empty string once it is.
 */
export declare function save(path: string, done: string): void;

/** Keeps a text for this tab only, until it is closed; the empty text forgets it. */
export declare function remember(key: string, value: string): void;

export declare function recall(key: string): string;

/** The address of the page itself, without the part after the `#`. */
export declare function pageUrl(): string;

/** Saves what the server has at a path as a file, signed in by these lines of `name: value`. */
export declare function download(path: string, headers: string, name: string): void;
