/**
 * Percent encoding for addresses. The standard functions trap on a lone surrogate and on a broken
 * escape, and a pasted address may hold either; these replace what they can't read.
 */
import { hexDigit } from "./json-scanner";

const HEX: string = "0123456789ABCDEF";

export function encode(value: string): string {
  let out = "";
  for (let i = 0; i < value.length; i++) {
    let point: i32 = value.charCodeAt(i);
    if (isUnreserved(point)) {
      out += String.fromCharCode(point);
      continue;
    }
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = i + 1 < value.length ? value.charCodeAt(i + 1) : 0;
      const paired = point <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
      point = paired ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      if (paired) i++;
    }
    out += encodePoint(point);
  }
  return out;
}

export function decode(value: string): string {
  if (!value.includes("%")) return value;
  const units = Uint8Array.wrap(String.UTF8.encode(value));
  const bytes = new Uint8Array(units.length);
  let length = 0;
  for (let i = 0; i < units.length; i++) {
    const high = units[i] === 0x25 && i + 2 < units.length ? hexDigit(units[i + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(units[i + 2]);
    bytes[length++] = low < 0 ? units[i] : <u8>((high << 4) | low);
    if (low >= 0) i += 2;
  }
  return String.UTF8.decodeUnsafe(bytes.dataStart, length);
}

function isUnreserved(c: i32): bool {
  return (
    (c >= 0x30 && c <= 0x39) ||
    (c >= 0x41 && c <= 0x5a) ||
    (c >= 0x61 && c <= 0x7a) ||
    c === 0x2d ||
    c === 0x2e ||
    c === 0x5f ||
    c === 0x7e
  );
}

function encodePoint(point: i32): string {
  if (point < 0x80) return byte(point);
  const last = byte(0x80 | (point & 0x3f));
  if (point < 0x800) return byte(0xc0 | (point >> 6)) + last;
  const third = byte(0x80 | ((point >> 6) & 0x3f));
  if (point < 0x10000) return byte(0xe0 | (point >> 12)) + third + last;
  return byte(0xf0 | (point >> 18)) + byte(0x80 | ((point >> 12) & 0x3f)) + third + last;
}

function byte(value: i32): string {
  return "%" + HEX.charAt(value >> 4) + HEX.charAt(value & 15);
}
