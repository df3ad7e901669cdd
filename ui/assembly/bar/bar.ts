/**
 * The query bar: what is being typed behind the chips, how it could go on, and what is wrong with it.
 * Nothing is searched for until Enter; then what was typed becomes chips.
 */
import { QueryFault } from "../../../src/domain/portable/query/tree";
import { Suggestion, Suggestions } from "../generated/records";
import { Terms, termsOf } from "./terms";

export class Bar {
  /** The query that the list answers. */
  terms: Terms = new Terms();
  draft: string = "";
  /** The draft as terms, kept as it is typed. */
  typed: Terms = new Terms();
  /** The draft was submitted as it is: a fault at its end is one, too. */
  isTried: bool = false;
  options: Suggestion[] = [];
  /** Which of the draft's characters a completion takes the place of. */
  replaceAt: i32 = 0;
  replaceEnd: i32 = 0;
  /** What the completions are for; while something else has been typed they can't be taken. */
  private proposedFor: string = "";
  /** Tab was pressed before the completions of the draft came: the first of them is meant. */
  wantsFirst: bool = false;
  /** The marked completion, or -1. */
  marked: i32 = -1;
  /** The draft is a chip that is being changed: it outlives the query that it was taken out of. */
  private keepsDraft: bool = false;
  /** Counts what is typed, so that only the last text is requested. */
  serial: i32 = 0;

  /** Takes the query of the address; a draft that is no query yet stays. */
  turn(query: string): void {
    this.terms = termsOf(query);
    this.close();
    if (this.terms.fault !== null) this.type(query);
    else if (!this.keepsDraft && this.typed.fault === null) this.type("");
    this.keepsDraft = false;
    this.isTried = this.terms.fault !== null;
  }

  type(draft: string): void {
    this.draft = draft;
    this.typed = termsOf(draft);
    this.isTried = false;
    this.serial++;
    this.marked = -1;
    this.wantsFirst = false;
  }

  /** What is wrong with the draft, unless it is only unfinished. */
  get fault(): QueryFault | null {
    const fault = this.typed.fault;
    if (fault === null) return null;
    return this.isTried || fault.end < this.draft.trimEnd().lastIndexOf(" ") ? fault : null;
  }

  get isOpen(): bool {
    return this.options.length > 0;
  }

  /** Shows completions, if the draft is the one that they were requested for. */
  propose(found: Suggestions): void {
    this.options = found.suggestions;
    this.proposedFor = this.draft;
    this.replaceAt = <i32>found.replace.at;
    this.replaceEnd = <i32>found.replace.end;
    this.marked = -1;
  }

  close(): void {
    this.options = [];
    this.marked = -1;
  }

  get isStale(): bool {
    return this.isOpen && this.proposedFor !== this.draft;
  }

  move(by: i32): void {
    const count = this.options.length;
    if (count === 0) return;
    if (this.marked < 0 && by < 0) this.marked = count - 1;
    else this.marked = (this.marked + by + count) % count;
  }

  /** Completes the draft; returns whether it is a whole term now. */
  take(index: i32): bool {
    if (index < 0 || index >= this.options.length || this.isStale) return false;
    const option = this.options[index].text;
    const before = this.draft.substring(0, min(this.replaceAt, this.draft.length));
    const behind = this.draft.substring(min(this.replaceEnd, this.draft.length));
    this.type(before + option + behind);
    this.close();
    return this.typed.fault === null;
  }

  /** What is to be written in place of the fault, in the draft as a whole; the empty string: unknown. */
  get mended(): string {
    const fault = this.typed.fault;
    return fault === null ? "" : fault.corrected(this.draft);
  }

  /** Takes a chip back into the field; gives the query without it. */
  edit(index: i32): string {
    const query = this.terms.without(index);
    this.type(this.terms.chips[index].text);
    this.keepsDraft = true;
    return query;
  }
}
