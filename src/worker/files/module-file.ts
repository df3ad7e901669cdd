// Imports a user's module from its path, and finds the module's default export by Graphile Worker's rules.
import { existsSync, readFileSync } from "node:fs";
import * as module from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";

/** The time limit of an import: a top-level await may never end. */
const MAX_LOAD_MS = 60_000;

/** What a module exports. */
export interface ImportedModule {
  readonly default: unknown;
  /** Returns another export of the module; undefined if there is none. */
  exportNamed(name: string): unknown;
}

/**
 * Imports a module. Rejects with an Error whose message is the end of a sentence that begins with the file's name, such
 * as "cannot be loaded: …".
 */
export async function importModule(path: string): Promise<ImportedModule> {
  if (/\.m?ts$/.test(path) && process.features.typescript === false) {
    throw new Error("is TypeScript, which needs Node.js 22.18 or later, or the executable");
  }
  const loaded = new AbortController();
  const late = wait(MAX_LOAD_MS, loaded.signal).then((isLate) => {
    if (!isLate) return;
    const error = new Error(`the import did not end within ${MAX_LOAD_MS / 1_000} s`);
    // The stack would name a place in this file, not in the user's module.
    throw Object.assign(error, { stack: "" });
  });
  try {
    const imported = import(pathToFileURL(path).href);
    await Promise.race([imported, late]);
    const exports = (await imported) as Exports;
    const exportNamed = (name: string) =>
      exports[name] ?? (exports.default as Exports | null | undefined)?.[name];
    return { default: defaultOf(exports), exportNamed };
  } catch (error) {
    throw new Error(messageFor(error, path), { cause: error });
  } finally {
    loaded.abort();
  }
}

type Exports = Readonly<Record<string, unknown>> & { readonly default?: unknown };

/** Node.js imports a CommonJS module as `{ default: exports }`. Compilers of TypeScript set `exports.default`. */
function defaultOf(imported: Exports): unknown {
  const outer = imported.default;
  const inner = isObject(outer) ? outer.default : undefined;
  if (isObject(inner) && inner["__esModule"] === true) return inner.default ?? inner;
  return inner ?? outer;
}

function isObject(value: unknown): value is Exports {
  return typeof value === "object" && value !== null;
}

function messageFor(error: unknown, path: string): string {
  const message = messageOf(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  if (codeOf(error) === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    const what = message.replace(/ is not supported in strip-only mode$/, "");
    const place = /^(\S+:\d+)$/m.exec(stack)?.[1];
    return `contains TypeScript syntax that cannot be stripped: ${what}${placeText(place)}; use plain JavaScript for it, or compile the file`;
  }
  // The error was thrown in the first frame.
  const frame = stack.split("\n").find((line) => line.trimStart().startsWith("at "));
  // In the stack of a syntax error, the place is on a line before the frames.
  const place =
    /^(\S+:\d+)$/m.exec(stack)?.[1] ??
    (frame === undefined ? undefined : placeIn(frame)) ??
    (error instanceof SyntaxError ? syntaxErrorIn(path) : undefined);
  const where = message.includes("imported from") ? "" : placeText(place);
  return `cannot be loaded: ${message}${where}${hintOf(message)}`;
}

/**
 * Returns the place of a syntax error. V8's error for an ES module lacks the place, so the file is parsed again, with
 * the parser by which Node.js strips types. If the error is in an imported module, this parser finds none.
 */
function syntaxErrorIn(path: string): string | undefined {
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {}; // without this, Node.js warns that stripTypeScriptTypes() is experimental
    module.stripTypeScriptTypes?.(readFileSync(path, "utf8"));
    return undefined;
  } catch (fault) {
    const row = fault instanceof Error ? /^:(\d+)$/m.exec(fault.stack ?? "")?.[1] : undefined;
    return row === undefined ? undefined : `${path}:${row}`;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns a hint for an error that occurs because Node.js reads TypeScript unlike a compiler; "" for any other. */
function hintOf(message: string): string {
  const [, missing = "", from = ""] =
    /^Cannot find (?:module|package) '([^']+)' imported from (\S+)/.exec(message) ?? [];
  if (/\.m?ts$/.test(from)) {
    const stem = missing.replace(/\.[cm]?js$/, "");
    const found = [".ts", ".mts", "/index.ts"].find((end) => existsSync(stem + end));
    if (found !== undefined) {
      return `; import the file by its own name, such as "./${basename(stem)}${found}"`;
    }
    if (/^[@~#]/.test(missing)) {
      return '; path aliases of tsconfig.json are not read: import by a relative path, or by a name with # from "imports" of package.json';
    }
  }
  const [, name] = /does not provide an export named '([^']+)'/.exec(message) ?? [];
  return name === undefined
    ? ""
    : `; if ${name} is a type, import it with "import type { ${name} }"`;
}

/** Returns `/tasks/a.js:3` for `    at make (file:///tasks/a.js:3:9)`; undefined for a frame without a path. */
function placeIn(frame: string): string | undefined {
  const line = frame.trim();
  const parts = (line.endsWith(")") ? line.slice(0, -1) : line).split(":");
  const [row = "", column = ""] = parts.splice(-2);
  const head = parts.join(":");
  const path = head.slice(Math.max(head.lastIndexOf("("), head.indexOf("at ") + 2) + 1);
  const plain = path.startsWith("file://") ? path.slice("file://".length) : path;
  const isPlace = plain.startsWith("/") && /^\d+$/.test(row) && /^\d+$/.test(column);
  return isPlace ? `${plain}:${row}` : undefined;
}

const placeText = (place: string | undefined) => (place === undefined ? "" : ` (${place})`);
