/** A job's condition by its own shape, its colour and its word: never by colour alone. */
import { upper } from "../lib/letters";
import { attr, box, cls, el, leaf, Node } from "../lib/node";
import { BUG, CLOSE, icon, NONE, RETRY } from "./icon";

/** In the order in which they are shown everywhere. */
export const CONDITIONS: string[] = [
  "ready",
  "blocked",
  "fetched",
  "running",
  "retrying",
  "scheduled",
  "failed",
];

/** A worker has locked the job. */
export function isLocked(condition: string): bool {
  return condition === "running" || condition === "fetched";
}

/** Its shape and its word. */
export function state(condition: string): Node {
  return stateSaying(condition, capital(condition));
}

/** Its shape and other words, such as `stuck 2 h 9 m`. */
export function stateSaying(condition: string, words: string): Node {
  return box("span", "st st-" + condition, [icon(drawingOf(condition)), leaf("span", "", words)]);
}

/** Its shape alone, with the word for those who hear the page and at hover. */
export function glyph(condition: string): Node {
  return el(
    "span",
    [cls("st st-" + condition), attr("title", capital(condition))],
    [icon(drawingOf(condition)), leaf("span", "sr", capital(condition))],
  );
}

/** `Ready` */
export function capital(word: string): string {
  return word.length > 0 ? upper(word.substring(0, 1)) + word.substring(1) : word;
}

function drawingOf(condition: string): string {
  if (condition === "ready" || condition === "alive")
    return "M8 3.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6";
  if (condition === "blocked" || condition === "stuck") return "M3.5 3.5h9v9h-9zM6 8h4";
  if (condition === "fetched") return "M5 4v8M11 4v8";
  if (condition === "running" || condition === "locked") return "M5 3.5 12.5 8 5 12.5z";
  if (condition === "retrying") return RETRY;
  if (condition === "scheduled") return "M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3M8 5.5V8l1.8 1.2";
  if (condition === "silent") return BUG;
  return condition === "failed" ? CLOSE : NONE;
}
