/**
 * Wraps the functions of the module and of the host so that both can pass texts. In the module's memory a text is an
 * object of UTF-16 units; their size in bytes is stored before them. Texts are not pinned, because the minimal runtime
 * collects garbage only when the host calls `__collect`, while none of the module's code is running.
 */
import type { instantiate as Instantiate } from "../generated/admin_ui_bg.js";

export type App = Awaited<ReturnType<typeof Instantiate>>;
type Call = (...given: unknown[]) => unknown;

/** By the name of an imported function, a bit mask of its numeric arguments. All other arguments are texts. */
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ after: 1, draw: 15, navigate: 2, request: 1, scroll: 1, zoneOffset: 1 },
};
/** The runtime id of AssemblyScript's class String. */
const STRING_ID = 2;
/** The maximum number of UTF-16 units that are passed to one call of String.fromCharCode. */
const MAX_UNITS = 1_024;

export async function instantiate(module: WebAssembly.Module, host: object): Promise<App> {
  const imports = wrapped(host, (name, call) => (...given) => {
    const numbers = NUMBERS[name] ?? 0;
    return lower(call(...given.map((value, at) => (numbers & (1 << at) ? value : lift(value)))));
  });
  const { exports } = await WebAssembly.instantiate(module, { host: imports });
  const app = exports as unknown as App;

  const units = (at: number, length: number) => new Uint16Array(app.memory.buffer, at, length);

  function lift(pointer: unknown): string {
    const at = pointer as number;
    const [size = 0] = new Uint32Array(app.memory.buffer, at - 4, 1);
    const all = units(at, size / 2);
    let text = "";
    for (let from = 0; from < all.length; from += MAX_UNITS) {
      text += String.fromCharCode(...all.subarray(from, from + MAX_UNITS));
    }
    return text;
  }

  function lower(value: unknown): unknown {
    if (typeof value !== "string") return value;
    const at = app.__new(value.length * 2, STRING_ID);
    const all = units(at, value.length);
    for (let n = 0; n < all.length; n++) all[n] = value.charCodeAt(n);
    return at;
  }

  return wrapped(
    exports,
    (_, call) =>
      (...given) =>
        call(...given.map(lower)),
  ) as App;
}

/** Returns the object with each of its functions wrapped. */
function wrapped(object: object, wrap: (name: string, call: Call) => Call) {
  const all = Object.entries(object).map(([name, value]) => [
    name,
    typeof value === "function" ? wrap(name, value) : value,
  ]);
  return Object.fromEntries(all);
}
