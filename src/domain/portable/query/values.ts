// The syntax of the values in a query: whole numbers, JSON numbers, ages and times.
import { digitsAt, digitsEnd } from "../digits.ts";

const LARGEST = "9223372036854775807";
/** 100,000 days, in seconds. */
const MAX_AGE_S: f64 = 8640000000;

export function isInteger(text: string): bool {
  let at = text.startsWith("-") ? 1 : 0;
  const end = digitsEnd(text, at);
  if (end === at || end < text.length || end - at > 19) return false;
  while (at < end - 1 && text.charCodeAt(at) === 0x30) at++;
  return end - at < 19 || text.substring(at) <= LARGEST;
}

/** Whether the text is a JSON number. */
export function isNumber(text: string): bool {
  let at = text.startsWith("-") ? 1 : 0;
  let end = digitsEnd(text, at);
  if (end === at || (end > at + 1 && text.charCodeAt(at) === 0x30)) return false;
  at = end;
  if (at < text.length && text.charCodeAt(at) === 0x2e) {
    end = digitsEnd(text, at + 1);
    if (end === at + 1) return false;
    at = end;
  }
  if (at < text.length && (text.charCodeAt(at) | 0x20) === 0x65) {
    at++;
    if (at < text.length && isSign(text.charCodeAt(at))) at++;
    end = digitsEnd(text, at);
    if (end === at) return false;
    at = end;
  }
  return at === text.length;
}

/**
 * Returns the number of seconds of an age such as `2h`, `1h30m` or `+10m`, without its sign. Returns -1 if the text is
 * not an age, or if the age exceeds 100,000 days.
 */
export function ageSeconds(text: string): f64 {
  let at = text.length > 0 && isSign(text.charCodeAt(0)) ? 1 : 0;
  if (at === text.length) return -1;
  let seconds: f64 = 0;
  while (at < text.length) {
    const end = digitsEnd(text, at);
    if (end === at || end - at > 9 || end === text.length) return -1;
    const unit = secondsOf(text.charCodeAt(end));
    if (unit === 0) return -1;
    let count: f64 = 0;
    for (; at < end; at++) count = count * 10 + ((text.charCodeAt(at) - 0x30) as f64);
    seconds += count * unit;
    at++;
  }
  return seconds <= MAX_AGE_S ? seconds : -1;
}

function secondsOf(unit: i32): f64 {
  if (unit === 0x73) return 1;
  if (unit === 0x6d) return 60;
  if (unit === 0x68) return 3600;
  if (unit === 0x64) return 86400;
  return unit === 0x77 ? 604800 : 0;
}

/**
 * Whether the text is `now`, `today`, a date, or a time with a zone, such as `2026-01-31T08:00Z` or
 * `2026-01-31T08:00:59.5+01:00`. Seconds are optional, and have at most six decimals.
 */
export function isTime(text: string): bool {
  if (text === "now" || text === "today") return true;
  if (!isDay(text)) return false;
  if (text.length === 10) return true;
  if (text.charCodeAt(10) !== 0x54 || !isClock(text, 11, 23)) return false;
  let at = 16;
  if (at < text.length && text.charCodeAt(at) === 0x3a) {
    const second = digitsAt(text, at + 1, 2);
    if (second < 0 || second > 59) return false;
    at += 3;
    if (at < text.length && text.charCodeAt(at) === 0x2e) {
      const end = digitsEnd(text, at + 1);
      if (end === at + 1 || end > at + 7) return false;
      at = end;
    }
  }
  if (at + 1 === text.length) return text.charCodeAt(at) === 0x5a;
  return at + 6 === text.length && isSign(text.charCodeAt(at)) && isClock(text, at + 1, 15);
}

function isDay(text: string): bool {
  const year = digitsAt(text, 0, 4);
  const month = digitsAt(text, 5, 2);
  const day = digitsAt(text, 8, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 ? (leap ? 29 : 28) : ((month + (month >> 3)) & 1) + 30;
  return day <= last;
}

/**
 * Whether the text has hours and minutes, such as `08:00`, at the index `at`. `lastHour`: the largest number of hours:
 * 23 for a time of day, 15 for the offset of a time zone.
 */
function isClock(text: string, at: i32, lastHour: i32): bool {
  const hour = digitsAt(text, at, 2);
  const minute = digitsAt(text, at + 3, 2);
  if (hour < 0 || hour > lastHour || minute < 0 || minute > 59) return false;
  return text.charCodeAt(at + 2) === 0x3a;
}

function isSign(c: i32): bool {
  return c === 0x2b || c === 0x2d;
}
