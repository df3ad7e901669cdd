// A user's own module: imported from its path, whatever this program was made into, and its default
// export found as Graphile Worker finds it. What goes wrong there is said with the place.
import { existsSync, readFileSync } from "node:fs";
import * as module from "node:module";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";

/** A module that waits at its top for something that never comes. */
const LONGEST_LOAD_MS = 60_000;

/** What a module exports. */
export interface ImportedModule {
  readonly default: unknown;
  /** Another export, of an ES module or of CommonJS; undefined where there is none. */
  named(name: string): unknown;
}

/** The default export. Throws an Error whose message continues the file's name: "cannot be loaded: …". */
export async function importDefault(path: string): Promise<unknown> {
  return (await importModule(path)).default;
}

/** Throws as importDefault(). */
export async function importModule(path: string): Promise<ImportedModule> {
  if (/\.m?ts$/.test(path) && process.features.typescript === false) {
    throw new Error(
      "is TypeScript, which this Node.js does not read: 22.18 or later does, and so does the executable",
    );
  }
  const loaded = new AbortController();
  const late = wait(LONGEST_LOAD_MS, loaded.signal).then((isLate) => {
    if (isLate) throw new Error(`did not finish loading within ${LONGEST_LOAD_MS / 1_000} s`);
  });
  try {
    const imported = import(pathToFileURL(path).href);
    await Promise.race([imported, late]);
    const exports = (await imported) as Exports;
    const named = (name: string) =>
      exports[name] ?? (exports.default as Exports | null | undefined)?.[name];
    return { default: defaultOf(exports), named };
  } catch (error) {
    throw new Error(sentenceOf(error, path), { cause: error });
  } finally {
    loaded.abort();
  }
}

type Exports = Readonly<Record<string, unknown>> & { readonly default?: unknown };

/**
 * A CommonJS module comes as `{ default: exports }`; one that says `exports.default`, or was compiled from
 * TypeScript, has another `default` within, once or twice.
 */
function defaultOf(imported: Exports): unknown {
  const outer = imported.default;
  const inner = isObject(outer) ? outer.default : undefined;
  if (isObject(inner) && inner["__esModule"] === true) return inner.default ?? inner;
  return inner ?? outer;
}

function isObject(value: unknown): value is Exports {
  return typeof value === "object" && value !== null;
}

function sentenceOf(error: unknown, path: string): string {
  const message = messageOf(error);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  if (codeOf(error) === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    const what = message.replace(/ is not supported in strip-only mode$/, "");
    const place = /^(\S+:\d+)$/m.exec(stack)?.[1];
    return `has more TypeScript than types, which cannot just be taken away: ${what}${placed(place)}; use plain JavaScript for it, or compile the file`;
  }
  // Where it was thrown; Node's own code says nothing to whoever wrote the file.
  const frame = stack.split("\n").find((line) => line.trimStart().startsWith("at "));
  // Of a fault in the syntax the place is before the frames.
  const place =
    /^(\S+:\d+)$/m.exec(stack)?.[1] ??
    (frame === undefined ? undefined : placeIn(frame)) ??
    (error instanceof SyntaxError ? faultIn(path) : undefined);
  const where = message.includes("imported from") ? "" : placed(place);
  return `cannot be loaded: ${message}${where}${hintOf(message)}`;
}

/**
 * Where the syntax of an ES module is wrong: V8's error does not have it, the parser that takes types away does.
 * undefined: it finds no fault, so another module has it, or this Node.js has no such parser.
 */
function faultIn(path: string): string | undefined {
  const { emitWarning } = process;
  try {
    process.emitWarning = () => {}; // the function is experimental, and only an error is made here
    module.stripTypeScriptTypes?.(readFileSync(path, "utf8"));
    return undefined;
  } catch (fault) {
    const row = fault instanceof Error ? /^:(\d+)$/m.exec(fault.stack ?? "")?.[1] : undefined;
    return row === undefined ? undefined : `${path}:${row}`;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** What to write instead, where Node reads TypeScript otherwise than compilers do. */
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
      return '; path aliases of tsconfig.json are not read: import by a relative path, or declare the alias in "imports" of package.json';
    }
  }
  const [, name] = /does not provide an export named '([^']+)'/.exec(message) ?? [];
  return name === undefined ? "" : `; if ${name} is a type, import it by "import type { ${name} }"`;
}

/** `/tasks/a.js:3` of `    at make (file:///tasks/a.js:3:9)`; undefined where the frame has no path. */
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

const placed = (place: string | undefined) => (place === undefined ? "" : ` (${place})`);
