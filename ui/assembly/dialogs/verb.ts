/**
 * The dialog of a verb that the server offers for a cause. What acts on given workers or jobs is sent as
 * it was offered; what acts on a query is rehearsed first, and done as it was rehearsed.
 */
import { countedValue } from "../controls/value";
import { commands } from "../generated/commands";
import {
  MessageResult,
  Rehearsal,
  readMessageResult,
  readRehearsal,
  readVerb,
  Verb,
} from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { JsonWriter } from "../lib/json-writer";
import { Node, nothing } from "../lib/node";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";

const OPERATIONS = "api/operations";

export class VerbDialog extends Dialog {
  private verbOffered: Verb = new Verb();
  private rehearsal: Rehearsal | null = null;

  constructor() {
    super("verb");
  }

  override open(_m: Model, dialog: OpenDialog, arg: string): bool {
    const r = new JsonReader(arg);
    const verb = readVerb(r);
    r.end();
    if (r.failed) return false;
    this.verbOffered = verb;
    this.rehearsal = null;
    dialog.jobs = [];
    return true;
  }

  private get isOperation(): bool {
    return this.verbOffered.post.path === "/" + OPERATIONS;
  }

  override title(_dialog: OpenDialog): string {
    const label = this.verbOffered.label;
    return label.endsWith("…") ? label.substring(0, label.length - 1) : label;
  }

  override verb(dialog: OpenDialog): string {
    if (!this.isOperation) return this.title(dialog);
    const rehearsal = this.rehearsal;
    if (rehearsal === null) return "See what it would do";
    return `${this.title(dialog)} ${countedValue(rehearsal.would.changeValue, "job", "jobs")}`;
  }

  override text(_m: Model, dialog: OpenDialog): string {
    if (!this.isOperation) {
      const said = consequence(this.verbOffered);
      return dialog.note.length > 0 ? `${dialog.note} ${said}` : said;
    }
    const rehearsal = this.rehearsal;
    if (rehearsal === null)
      return "First it is counted which jobs it is about. Nothing is changed.";
    const alone = rehearsal.would.skipLockedValue;
    const rest =
      alone.value > 0
        ? ` ${countedValue(alone, "job", "jobs")} that workers hold are left alone.`
        : "";
    const undo = rehearsal.canUndo ? " It can be undone while a job is as it was left." : "";
    return `${countedValue(rehearsal.would.changeValue, "job", "jobs")} are changed, in the background. Jobs that come after this moment are not included.${rest}${undo}`;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    return false;
  }

  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  override request(_m: Model, _dialog: OpenDialog): Pending {
    const rehearsal = this.rehearsal;
    const path = this.verbOffered.post.path.substring(1);
    if (rehearsal === null) return new Pending("ask.verb", path, this.verbOffered.post.body);
    const body = new JsonWriter().string("rehearsal", rehearsal.rehearsal).end();
    return new Pending("ask.verb", path, body);
  }

  /** A rehearsal keeps the dialog open, and says what would be done. */
  override done(m: Model, _write: Pending, body: string): void {
    const r = new JsonReader(body);
    if (this.isOperation && this.rehearsal === null) {
      const rehearsal = readRehearsal(r);
      r.end();
      if (r.failed) m.notices.bad(`The rehearsal can't be read: ${r.error}`);
      else {
        this.rehearsal = rehearsal;
        m.keepDialog = true;
      }
      return;
    }
    const result: MessageResult = readMessageResult(r);
    const said = r.failed || result.message.length === 0 ? "Begun." : result.message;
    m.notices.good(this.isOperation ? "Begun in the background." : said);
  }
}

/** What its command says that will happen. */
function consequence(verb: Verb): string {
  for (let i = 0; i < commands.length; i++) {
    if (commands[i].action === verb.action) return commands[i].consequence;
  }
  return "";
}
