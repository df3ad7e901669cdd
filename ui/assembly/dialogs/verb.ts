/**
 * The dialog of a verb that the server offers for a cause. What acts on given workers or jobs is sent as
 * it was offered; what acts on a query is another dialog's, which rehearses it first.
 */
import { commands } from "../generated/commands";
import {
  Fix,
  MessageResult,
  readFix,
  readMessageResult,
  readNamedInFix,
} from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { Node, nothing } from "../lib/node";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";

const OPERATIONS = "/api/operations";

export class VerbDialog extends Dialog {
  private verbOffered: Fix = Fix.empty();

  constructor() {
    super("verb");
  }

  override open(m: Model, dialog: OpenDialog, arg: string): bool {
    const r = new JsonReader(arg);
    const verb = readFix(r);
    r.end();
    if (r.failed) return false;
    this.verbOffered = verb;
    const other = m.dialogNamed("operation");
    if (verb.post.path === OPERATIONS && other !== null) {
      dialog.name = other.name;
      return other.open(m, dialog, verb.post.body);
    }
    const named = readNamedInFix(new JsonReader(verb.post.body));
    dialog.jobs = [];
    dialog.workers = named.workerIds;
    for (let i = 0; i < named.ids.length; i++) dialog.workers.push(`#${named.ids[i]}`);
    if (dialog.note.length === 0) dialog.note = reach(m, named.workerIds);
    return true;
  }

  override title(_dialog: OpenDialog): string {
    const label = this.verbOffered.label;
    return label.endsWith("…") ? label.substring(0, label.length - 1) : label;
  }

  override verb(dialog: OpenDialog): string {
    return this.title(dialog);
  }

  override text(_m: Model, dialog: OpenDialog): string {
    const said = consequence(this.verbOffered, dialog.workers.length === 1);
    return dialog.note.length > 0 ? `${dialog.note} ${said}` : said;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return false;
  }

  /** Taking locks away can't be undone. */
  override eager(_m: Model, _dialog: OpenDialog): bool {
    return this.verbOffered.action !== "force-unlock";
  }

  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  override request(_m: Model, _dialog: OpenDialog): Pending {
    const post = this.verbOffered.post;
    return new Pending("ask.verb", post.path.substring(1), post.body);
  }

  override done(m: Model, _write: Pending, body: string): void {
    const result: MessageResult = readMessageResult(new JsonReader(body));
    const said = result.message;
    m.notices.good(said.length > 0 ? said : "Done.").undo = result.operation;
  }
}

/** What the worker keeps from running, where that is known. */
function reach(m: Model, workers: string[]): string {
  const known = m.facts.incidents.incidents;
  for (let i = 0; i < known.length && workers.length === 1; i++) {
    if (known[i].links.worker === workers[0]) return known[i].sentence;
  }
  return "";
}

/** What its command says that will happen. */
function consequence(verb: Fix, isOne: bool): string {
  for (let i = 0; i < commands.length; i++) {
    const one = commands[i];
    if (one.action === verb.action) return isOne ? one.consequenceOfOne : one.consequence;
  }
  return "";
}
