/** Texts about pauses and back-offs, and about the workers that have acknowledged all pauses. */
import { clockAt } from "../controls/age";
import { link } from "../controls/button";
import { stateWith } from "../controls/glyph";
import { cutText } from "../controls/middle";
import { Pause, PauseList, readPauseList } from "../generated/records";
import { ServerData } from "../kit/server-data";
import { JsonReader } from "../lib/json-reader";
import { box, leaf, Node, nothing, text } from "../lib/node";
import { countText, numberText } from "../lib/number";
import { workerPath } from "../model/links";
import { Model } from "../model/model";

function lead(pause: Pause): string {
  return pause.backsOff ? "Backing off" : "Paused";
}

/** Returns words such as `Paused by ana until 14:00:00: deploy`. */
export function pausedWords(m: Model, pause: Pause): string {
  const by = pause.by;
  const reason = pause.reason;
  return (
    lead(pause) +
    (by === null ? "" : ` by ${by}`) +
    (isNaN(pause.until) ? "" : ` until ${clockAt(pause.until, m.serverNow)}`) +
    (reason === null ? "" : `: ${reason}`)
  );
}

/** The state *Paused* or *Backing off*. */
export function pausedState(pause: Pause): Node {
  return stateWith(pause.backsOff ? "scheduled" : "paused", lead(pause));
}

/** The line below the name in the row of a paused queue or task. */
export function pauseLine(m: Model, pause: Pause | null): Node {
  return pause === null ? nothing : cutText(pausedWords(m, pause), "sub");
}

const PATH = "api/pauses";
/** The interval of requests while some live workers have not acknowledged all pauses. */
const SOON_MS: f64 = 1000;
/** The interval of requests at other times. */
const REFRESH_MS: f64 = 5000;
/** The maximum number of workers that are listed by name. */
const NAMED = 5;

/** How many live workers have acknowledged all pauses, and which live workers have not. */
export class Acknowledgements {
  readonly data: ServerData;
  private list: PauseList = PauseList.empty();

  constructor(page: string) {
    this.data = new ServerData(page + ".pauses");
  }

  /** Requests the acknowledgements when a request is due. If `isPaused` is false, resets `data`. */
  follow(m: Model, isPaused: bool): void {
    const data = this.data;
    if (!isPaused) data.reset();
    else if (isNaN(data.requestedAt)) data.request(m, PATH);
    else if (data.isDue(m, this.list.waiting > 0 ? SOON_MS : REFRESH_MS))
      data.request(m, PATH, true);
  }

  onAnswer(m: Model, body: string): void {
    const r = new JsonReader(body);
    const list = readPauseList(r);
    if (this.data.finish(m, r)) this.list = list;
  }

  view(): Node {
    if (!this.data.ready) return nothing;
    const note = this.list.note;
    const other = note === null ? nothing : leaf("p", "hint", note + ".");
    return box("div", "ack", [this.workers(), other]);
  }

  /** The sentence `Acknowledged by 5 of 6 workers; not yet by worker-c.` */
  private workers(): Node {
    const list = this.list;
    const all = list.acknowledged + list.waiting;
    if (all === 0) return nothing;
    const nodes: Node[] = [
      text(
        `Acknowledged by ${numberText(list.acknowledged)} of ${countText(all, "worker", "workers")}`,
      ),
    ];
    const names = list.waitingFor;
    for (let i = 0; i < min(names.length, NAMED); i++) {
      nodes.push(text(i === 0 ? "; not yet by " : ", "));
      nodes.push(link(workerPath(names[i]), "link", [text(names[i])]));
    }
    const others = list.waiting - min(names.length, NAMED);
    nodes.push(text(others > 0 ? `, ${numberText(others)} more.` : "."));
    return box("p", "hint", nodes);
  }
}
