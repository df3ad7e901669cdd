/**
 * The functions that the application imports from its host (ui/host/page-host.ts). The compiler names the imported
 * module, `host`, after this file.
 */
export declare function draw(ops: usize, opCount: i32, units: usize, unitCount: i32): void;

export declare function now(): f64;

/** Returns the minutes by which the local time is ahead of UTC at `at`, a time in milliseconds since 1970. */
export declare function zoneOffset(at: f64): i32;

/** Sends a request. Headers are lines of `name: value`. The answer is passed to `onAnswer` (index.ts) with this id. */
export declare function request(
  id: i32,
  method: string,
  path: string,
  headers: string,
  body: string,
): void;

/** Closes the open event stream, and opens another. Events are passed to `onEvent` (index.ts). */
export declare function subscribe(path: string, headers: string): void;

export declare function unsubscribe(): void;

/** Calls `onTimer` (index.ts) with this action and argument after `ms` milliseconds. */
export declare function after(ms: i32, action: string, arg: string): void;

/** Changes the part of the address after the `#`. With `replace`, the history gets no new entry. */
export declare function navigate(path: string, replace: bool): void;

/** Goes back one entry of the history. */
export declare function back(): void;

/** Returns how far the page is scrolled, in pixels. */
export declare function scrolled(): f64;

/** Scrolls the page to `top`, in pixels, after the next draw. */
export declare function scroll(top: f64): void;

/** Returns the id of the element that has the focus; empty if this element has no id. */
export declare function focused(): string;

/** Returns whether the pointer or the focus is in the element with this id. */
export declare function attended(id: string): bool;

export declare function title(text: string): void;

/** Shows a number, such as `12` or `99+`, on the icon of the browser's tab; empty: no number. */
export declare function mark(text: string): void;

/** Loads the page again. */
export declare function reload(): void;

/** Returns whether the window is wide enough to show a job beside a list. */
export declare function isWide(): bool;

/** Moves the focus to the element with this id after the next draw. */
export declare function focus(id: string): void;

/** Copies a text to the clipboard. Then dispatches `app.copied` with the text, and with the value "yes" or "no". */
export declare function copy(text: string): void;

/** Sets and stores the theme: `system`, `light` or `dark`. */
export declare function theme(name: string): void;

/** Stores a preference in this browser. The value must contain no secret, and no data from the server. */
export declare function prefer(key: string, value: string): void;

export declare function preferred(key: string): string;

/**
 * Makes the browser itself download the server's answer at a path, of any size. Then dispatches the action `done` with
 * the path, and with the reason if the download cannot begin.
 */
export declare function save(path: string, done: string): void;

/** Deletes the server's answers that the host has stored. */
export declare function clearAnswers(): void;

/** Stores a text for this tab, until the tab is closed. The empty text removes the stored text. */
export declare function remember(key: string, value: string): void;

export declare function recall(key: string): string;

/** Returns the address of the page itself, without the part after the `#`. */
export declare function pageUrl(): string;

/** Saves the server's answer at a path as the file `name`. If that fails, dispatches `app.not-saved` with the name. */
export declare function download(path: string, headers: string, name: string): void;
