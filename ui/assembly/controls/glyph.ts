/** A job's condition by its own shape, its colour and its word: never by colour alone. */
import { conditionNamed } from "../generated/conditions";
import { upper } from "../lib/letters";
import { attr, box, cls, el, leaf, Node } from "../lib/node";
import { BUG, icon, NONE, PAUSE } from "./icon";

/** Its shape and its word. */
export function state(condition: string): Node {
  return stateSaying(condition, capital(condition));
}

/** Its shape and other words, such as `stuck 2 h 9 m`. */
export function stateSaying(condition: string, words: string): Node {
  return box("span", "st st-" + condition, [icon(drawingOf(condition)), leaf("span", "", words)]);
}

/** Its shape alone, with the word at hover and for screen readers. */
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

/** Of a condition, or of what else is marked with a shape: the other conditions of queues and workers. */
function drawingOf(word: string): string {
  const data = conditionNamed(alike(word));
  if (data !== null) return data.drawing;
  if (word === "paused") return PAUSE;
  return word === "stale" ? BUG : NONE;
}

/** The condition whose shape is taken. */
function alike(word: string): string {
  if (word === "alive") return "ready";
  if (word === "stuck") return "blocked";
  return word === "locked" ? "running" : word;
}
