/** A pause in words, on a row or on the page of what is paused. */
import { clockAt } from "../controls/age";
import { stateSaying } from "../controls/glyph";
import { Pause } from "../generated/records";
import { attr, cls, el, Node, text } from "../lib/node";
import { Model } from "../model/model";

/** `Paused by ana until 14:00:00: deploy` */
export function pausedWords(m: Model, pause: Pause): string {
  const by = pause.by;
  const reason = pause.reason;
  return (
    "Paused" +
    (by === null ? "" : ` by ${by}`) +
    (isNaN(pause.until) ? "" : ` until ${clockAt(pause.until, m.serverNow)}`) +
    (reason === null ? "" : `: ${reason}`)
  );
}

/** The word on a row, with the rest at hover; and the rest in a cell of its own. */
export function pausedState(m: Model, pause: Pause): Node {
  return el("span", [attr("title", pausedWords(m, pause))], [stateSaying("paused", "Paused")]);
}

export function pausedCell(m: Model, pause: Pause): Node {
  const words = pausedWords(m, pause);
  return el("span", [cls("cut"), attr("title", words)], [text(words.substring(7))]);
}
