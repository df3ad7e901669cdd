/**
 * Texts for ages such as `7 s ago`. While the data on the page are stale, the texts have clock times instead of ages,
 * because a growing age would suggest that the data are current.
 */
import { ageText, spanText } from "../../../src/domain/portable/ages";
import { zoneOffset } from "../host";
import { attr, el, Node, nothing, text } from "../lib/node";
import { parseWhole } from "../lib/number";
import { isoTime, parseTime, wallText, zoneText } from "../lib/time";
import { dash } from "./empty";

const MONTHS: string = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
const WEEKDAYS: string = "Sun Mon Tue Wed Thu Fri Sat ";
const DAY_MS: f64 = 86400000;
const DAY: i64 = 86400000;
const ROUNDED_FROM_MS: f64 = 600000;

export class Times {
  constructor(
    /** The present time by PostgreSQL's clock. */
    readonly now: f64,
    /** Whether the data are stale: see Live.isStale(). */
    readonly stale: bool,
  ) {}
}

export { ageText, spanText };

/** Returns `7 s ago` or `now`; if stale, `at 00:20:16`. */
export function ago(at: f64, times: Times): string {
  if (times.stale) return "at " + clockAt(at, times.now);
  return times.now - at < 1000 ? "now" : ageText(times.now - at) + " ago";
}

/** Returns `for 2 h`; if stale, `since 22:11:02`. */
export function durationText(at: f64, times: Times): string {
  return times.stale ? "since " + clockAt(at, times.now) : "for " + ageText(times.now - at);
}

/** Returns `in 26 m` or `now`; if stale, `at 00:46:00`. */
export function timeUntil(at: f64, times: Times): string {
  if (times.stale) return "at " + clockAt(at, times.now);
  return at - times.now < 1000 ? "now" : "in " + ageText(at - times.now);
}

/** Returns `7 s`; if stale, `00:20:16`. For columns whose headers name the event. */
export function age(at: f64, times: Times): string {
  return times.stale ? clockAt(at, times.now) : ageText(Math.abs(times.now - at));
}

/** Returns the text of age(), with the time itself on hover. */
export function aged(at: f64, times: Times): Node {
  return isNaN(at) ? nothing : timeElement(at, age(at, times));
}

/** Returns `7 s ago`, with the time itself on hover. */
export function agoElement(at: f64, times: Times): Node {
  return timeElement(at, ago(at, times));
}

/** Returns `words`, with the time `at` on hover. */
export function timeElement(at: f64, words: string): Node {
  if (isNaN(at)) return dash();
  return el("time", [attr("datetime", isoTime(at)), attr("title", absolute(at))], [text(words)]);
}

/** Returns `00:20:16` for a time today, `13 Nov 22:10` within 300 days of `now`, `13 Nov 2024` for any other time. */
export function clockAt(at: f64, now: f64): string {
  const wall = wallText(at + <f64>zoneOffset(at) * 60000, " ");
  const today = wallText(now + <f64>zoneOffset(now) * 60000, " ");
  if (today.substring(0, 10) === wall.substring(0, 10)) return wall.substring(11);
  const day = dayAndMonth(wall);
  const far = Math.abs(now - at) > 300 * DAY_MS;
  return far ? `${day} ${wall.substring(0, 4)}` : `${day} ${wall.substring(11, 16)}`;
}

function dayAndMonth(wall: string): string {
  const month = (<i32>parseWhole(wall.substring(5, 7)).value - 1) * 4;
  return `${parseWhole(wall.substring(8, 10)).value} ${MONTHS.substring(month, month + 3)}`;
}

/** Returns the local time with its day and zone: `Sun 1 Mar 2026 13:00:00 +01:00`. */
export function dateText(at: f64): string {
  const full = absolute(at);
  const days = <i64>Math.floor((at + <f64>zoneOffset(at) * 60000) / DAY_MS);
  // Day 0, 1 January 1970, was a Thursday (4). 7,000,000 days are whole weeks, and keep the sum positive before 1970.
  const name = <i32>((days + 7000004) % 7) * 4;
  return `${WEEKDAYS.substring(name, name + 3)} ${dayAndMonth(full)} ${full.substring(0, 4)}${full.substring(10)}`;
}

/** Returns the local time with its zone: `2026-03-01 13:00:00 +01:00`. */
export function absolute(at: f64): string {
  const zone = zoneOffset(at);
  return wallText(at + <f64>zone * 60000, " ") + " " + zoneText(zone);
}

/** Returns a text of the server, with clockAt() instead of each UTC time after `at`, `since` or `until`. */
export function localTimes(sentence: string, now: f64): string {
  const words = sentence.split(" ");
  for (let i = 1; i < words.length; i++) {
    const end = words[i].indexOf("Z") + 1;
    if (end !== 20 || !" at since until ".includes(` ${words[i - 1]} `)) continue;
    const at = parseTime(words[i].substring(0, end));
    if (!isNaN(at)) words[i] = clockAt(at, now) + words[i].substring(end);
  }
  return words.join(" ");
}

/** Returns the period of a rate as users type it: `min`, `5min`, `250ms`. */
export function periodText(ms: i64): string {
  const unit =
    ms % DAY === 0 ? DAY : ms % 3600000 === 0 ? 3600000 : ms % 60000 === 0 ? 60000 : 1000;
  if (ms % unit > 0) return `${ms}ms`;
  const name = unit === DAY ? "d" : unit === 3600000 ? "h" : unit === 60000 ? "min" : "s";
  return (ms === unit ? "" : (ms / unit).toString()) + name;
}

/** Returns the local zone, such as `+01:00`. */
export function zone(now: f64): string {
  return zoneText(zoneOffset(now));
}

/**
 * Returns a sentence that the server wrote at `at`, with local times and current ages. Ages of ten minutes or more stay
 * unchanged, because the server has rounded them.
 */
export function upToDate(sentence: string, at: f64, times: Times): string {
  const words = localTimes(sentence, times.now).split(" ");
  const out: string[] = [];
  let i = 0;
  while (i < words.length) {
    let ms: f64 = 0;
    let rest = "";
    let end = i;
    while (end + 1 < words.length && rest.length === 0 && unitOf(words[end + 1]) > 0) {
      const count = parseWhole(words[end]);
      if (!count.valid) break;
      ms += <f64>count.value * unitOf(words[end + 1]);
      rest = words[end + 1].substring(1);
      end += 2;
    }
    const before = i > 0 ? words[i - 1] : "";
    const after = end < words.length ? words[end] : "";
    const isExact = end > i && ms < ROUNDED_FROM_MS;
    if (isExact && rest.length === 0 && after.startsWith("ago")) {
      out.push(ago(at - ms, times) + after.substring(3));
      i = end + 1;
    } else if (isExact && (before === "for" || (before === "in" && after !== "to"))) {
      out[out.length - 1] =
        (before === "for" ? durationText(at - ms, times) : timeUntil(at + ms, times)) + rest;
      i = end;
    } else out.push(words[i++]);
  }
  return out.join(" ");
}

/** Returns the milliseconds of a unit; 0 if the word is not a unit. */
function unitOf(word: string): f64 {
  if (word.length > 1 && !".,;".includes(word.charAt(1))) return 0;
  if (word.startsWith("s")) return 1000;
  if (word.startsWith("m")) return 60000;
  if (word.startsWith("h")) return 3600000;
  return word.startsWith("d") ? DAY_MS : 0;
}
