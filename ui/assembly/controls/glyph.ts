/**
 * Draws the condition of a job, or the state of a queue or worker, as an icon with a colour and a word. The colour is
 * never the only sign.
 */
import { conditionNamed } from "../generated/conditions";
import { upper } from "../lib/letters";
import { attr, box, cls, el, leaf, Node } from "../lib/node";
import { BUG, icon, NONE, PAUSE } from "./icon";

/** The icon of a condition with its name. */
export function state(condition: string): Node {
  return stateWith(condition, capital(condition));
}

/** The icon of a condition with other words, such as `Stuck 2 h 9 m`. */
export function stateWith(condition: string, words: string): Node {
  return box("span", "st st-" + condition, [icon(drawingOf(condition)), leaf("span", "", words)]);
}

/** The icon of a condition. The name is shown only on hover and to screen readers. */
export function glyph(condition: string): Node {
  return el(
    "span",
    [cls("st st-" + condition), attr("title", capital(condition))],
    [icon(drawingOf(condition)), leaf("span", "sr", capital(condition))],
  );
}

/** Returns the word with a capital first letter: `Ready`. */
export function capital(word: string): string {
  return word.length > 0 ? upper(word.substring(0, 1)) + word.substring(1) : word;
}

/** Returns the icon of a condition, or of a state of a queue or worker. */
function drawingOf(word: string): string {
  const data = conditionNamed(alike(word));
  if (data !== null) return data.drawing;
  if (word === "paused") return PAUSE;
  return word === "stale" ? BUG : NONE;
}

/** Returns the condition whose icon this state has; returns any other word unchanged. */
function alike(word: string): string {
  if (word === "alive") return "ready";
  if (word === "stuck") return "blocked";
  return word === "locked" ? "running" : word;
}
