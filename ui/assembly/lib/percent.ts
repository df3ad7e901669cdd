/**
 * Percent encoding for addresses. The standard functions trap on a lone surrogate and on a broken escape, and a pasted
 * address may contain both. Here encode() replaces a lone surrogate, and decode() leaves a broken escape as it is.
 */
import { hexDigit } from "./json-scanner";

const HEX: string = "0123456789ABCDEF";

export function encode(value: string): string {
  const bytes = Uint8Array.wrap(String.UTF8.encode(value, false, String.UTF8.ErrorMode.REPLACE));
  const units = new StaticArray<u16>(bytes.length * 3);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (isUnreserved(byte)) units[length++] = byte;
    else {
      units[length++] = 0x25;
      units[length++] = <u16>HEX.charCodeAt(byte >> 4);
      units[length++] = <u16>HEX.charCodeAt(byte & 15);
    }
  }
  return String.UTF16.decodeUnsafe(changetype<usize>(units), (<usize>length) << 1);
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
