/**
 * The dialog that confirms a Fix: an action with its request, from the server or from the page. The request is sent
 * unchanged. An action on all jobs that match a query has another dialog, with a preview (operation.ts).
 */

import { countedValue } from "../controls/value";
import { Command, commands } from "../generated/commands";
import { Fix, Incident, ListedWorker, readFix, readNamedInFix } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { replaced } from "../lib/letters";
import { Node, nothing } from "../lib/node";
import { queryPath } from "../model/links";
import { Dialog, Model } from "../model/model";
import { OpenDialog } from "../model/open-dialog";
import { Pending } from "../model/requests";
import { unlockPreview } from "../parts/holder";
import { noticeOf } from "./command";

/**
 * The maximum number of receipts of incidents' actions that are stored for the overview. When this number is reached,
 * the next receipt replaces all of them.
 */
const MAX_RECEIPTS = 16;
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
    const about = incidentOf(m, verb);
    dialog.about = about;
    const named = readNamedInFix(new JsonReader(verb.post.body));
    dialog.jobs = [];
    dialog.workers = named.workerIds;
    for (let i = 0; i < named.ids.length; i++) dialog.workers.push(`#${named.ids[i]}`);
    // A pause of everything has no name.
    if (named.scope.length > 0) {
      dialog.workers.push(named.name.length > 0 ? `${named.scope} ${named.name}` : "everything");
    }
    const holders = holdersOf(named.workerIds, dialog.holders);
    if (holders.length > 0) dialog.note = unlockPreview(holders, m.times);
    else if (about !== null) dialog.note = about.sentence;
    return true;
  }

  override title(dialog: OpenDialog): string {
    const label = this.verb(dialog);
    const names = dialog.workers;
    return names.length === 1 && !label.endsWith(" " + names[0]) ? `${label} ${names[0]}` : label;
  }

  override verb(_dialog: OpenDialog): string {
    return replaced(this.verbOffered.label, "…", "");
  }

  override text(_m: Model, dialog: OpenDialog): string {
    const message = consequence(this.verbOffered, dialog.workers.length === 1);
    return dialog.note.length > 0 ? `${dialog.note} ${message}` : message;
  }

  override danger(_m: Model, _dialog: OpenDialog): bool {
    const command = commandOf(this.verbOffered);
    return command !== null && command.destroys && command.target.length === 0;
  }

  /**
   * Whether Enter alone confirms the action. True for actions that the user can reverse: a pause, the end of a pause,
   * and a change of jobs that destroys nothing, if the server stores the jobs' earlier state.
   */
  override eager(m: Model, _dialog: OpenDialog): bool {
    const action = this.verbOffered.action;
    if (action === "pause" || action === "resume") return true;
    const command = commandOf(this.verbOffered);
    if (command === null || command.destroys) return false;
    return command.target === "ids" && m.access.session.canUndo;
  }

  override form(_m: Model, _dialog: OpenDialog): Node {
    return nothing;
  }

  override request(_m: Model, _dialog: OpenDialog): Pending {
    const post = this.verbOffered.post;
    return new Pending("ask.verb", post.path.substring(1), post.body);
  }

  override done(m: Model, write: Pending, body: string): void {
    const notice = noticeOf(m, body);
    const dialog = write.dialog;
    if (notice === null || dialog === null) return;
    const about = dialog.about;
    if (about === null) return;
    const receipts = m.facts.receipts;
    if (receipts.size >= MAX_RECEIPTS) receipts.clear();
    receipts.set(about.id, notice.text);
    const query = about.q;
    // After the action, a query for stuck jobs or for a worker's jobs finds nothing, so the notice has no link.
    if (query === null || query.startsWith("is:stuck") || query.startsWith("worker:")) return;
    if (about.affected.value === 0) return;
    notice.link = queryPath(replaced(query, " is:blocked", " is:due"));
    notice.linkText = "See " + countedValue(about.affected, "job", "jobs");
  }
}

/** Returns the workers with these ids; an empty list unless all of them are known. */
function holdersOf(ids: string[], known: ListedWorker[]): ListedWorker[] {
  const found: ListedWorker[] = [];
  for (let i = 0; i < ids.length; i++) {
    for (let k = 0; k < known.length && found.length === i; k++)
      if (known[k].workerId === ids[i]) found.push(known[k]);
  }
  return found.length === ids.length ? found : [];
}

function incidentOf(m: Model, offered: Fix): Incident | null {
  const known = m.facts.incidents.incidents;
  for (let i = 0; i < known.length; i++) {
    const verb = known[i].fix;
    if (verb !== null && verb.post.body === offered.post.body) return known[i];
  }
  return null;
}

function consequence(verb: Fix, isOne: bool): string {
  const command = commandOf(verb);
  if (command === null) return "";
  return isOne ? command.consequenceOfOne : command.consequence;
}

function commandOf(verb: Fix): Command | null {
  for (let i = 0; i < commands.length; i++) {
    const command = commands[i];
    if (command.action === verb.action && verb.post.path.endsWith(command.path)) return command;
  }
  return null;
}
