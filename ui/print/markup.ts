/** A picture of the application as markup: every text and every attribute is escaped, and nothing else is written. */
import { ATTR, FLAG, KEY, OPEN, TEXT } from "../host/ops.ts";

/** Elements without an end (HTML, 13.1.2). */
const VOID = new Set(["br", "col", "hr", "img", "input", "wbr"]);
/** For screen readers alone, such as the horizon as a table: half of all elements, which the application's own picture has. */
const ONLY_READ = ' class="sr"';
const utf16 = new TextDecoder("utf-16le", { ignoreBOM: true });

export function markupOf(
  memory: WebAssembly.Memory,
  opsAt: number,
  opCount: number,
  unitsAt: number,
  unitCount: number,
): string {
  const ops = new Uint32Array(memory.buffer, opsAt, opCount);
  const texts = utf16.decode(new Uint8Array(memory.buffer, unitsAt, unitCount * 2));
  let at = 0;
  let unit = 0;
  const word = () => ops[at++] ?? 0;
  const string = () => {
    const start = unit;
    unit += word();
    return texts.slice(start, unit);
  };
  const name = () => {
    const address = word();
    const [size = 0] = new Uint32Array(memory.buffer, address - 4, 1);
    return utf16.decode(new Uint8Array(memory.buffer, address, size));
  };

  /** What stands before the children. */
  const attrs = (end: number) => {
    let all = "";
    while (at < end && (ops[at] === ATTR || ops[at] === FLAG)) {
      const isText = word() === ATTR;
      const attr = name();
      if (!isText) all += word() === 1 ? ` ${attr}=""` : "";
      else if (attr === KEY) string();
      else all += ` ${attr}="${escaped(string())}"`;
    }
    return all;
  };

  const element = (): string => {
    const tag = name();
    const size = word();
    const units = word();
    const [end, unitsEnd] = [at + size, unit + units];
    const attributes = attrs(end);
    if (attributes === ONLY_READ) {
      [at, unit] = [end, unitsEnd];
      return "";
    }
    const start = `<${tag}${attributes}>`;
    return VOID.has(tag) ? start : `${start}${children(end)}</${tag}>`;
  };

  const children = (end: number): string => {
    let all = "";
    while (at < end) {
      const op = word();
      if (op === OPEN) all += element();
      else if (op === TEXT) all += escaped(string());
    }
    return all;
  };

  return children(opCount);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
