/**
 * The state of the query bar: the chips of the present query, the text that is typed after the chips, and the
 * completions and the fault of this text. If the text is valid, it becomes chips when it is submitted.
 */
import { QueryFault } from "../../../src/domain/portable/query/tree";
import { Suggestion, Suggestions } from "../generated/records";
import { Terms, termsOf } from "./terms";

export class Bar {
  /** The query whose jobs the list shows. */
  terms: Terms = new Terms();
  draft: string = "";
  /** The terms of the typed text. */
  typed: Terms = new Terms();
  isSubmitted: bool = false;
  options: Suggestion[] = [];
  /** The range of the typed text that a completion replaces. */
  replaceAt: i32 = 0;
  replaceEnd: i32 = 0;
  /** The text to which the completions belong. */
  private proposedFor: string = "";
  /** Whether Tab was pressed too early. If so, the first completion is inserted as soon as the completions arrive. */
  wantsFirst: bool = false;
  /** The index of the marked completion; -1: none. */
  marked: i32 = -1;
  /** Whether edit() has put a chip into the field since the last turn(). */
  private keepsDraft: bool = false;
  /** The number of changes of the text. */
  serial: i32 = 0;

  /**
   * Shows the query of a new address. An invalid query becomes the typed text. A valid query clears the typed text,
   * unless this text is invalid or comes from edit().
   */
  turn(query: string): void {
    this.terms = termsOf(query);
    this.close();
    if (this.terms.fault !== null) this.type(query);
    else if (!this.keepsDraft && this.typed.fault === null) this.type("");
    this.keepsDraft = false;
    this.isSubmitted = this.terms.fault !== null;
  }

  type(draft: string): void {
    this.draft = draft;
    this.typed = termsOf(draft);
    this.isSubmitted = false;
    this.serial++;
    this.marked = -1;
    this.wantsFirst = false;
  }

  /** The fault to show. Until the text is submitted, a fault in the last word is not shown. */
  get fault(): QueryFault | null {
    const fault = this.typed.fault;
    if (fault === null) return null;
    return this.isSubmitted || fault.end < this.draft.trimEnd().lastIndexOf(" ") ? fault : null;
  }

  get isOpen(): bool {
    return this.options.length > 0;
  }

  /** Shows completions, which must be those of the present text. */
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

  /** Inserts a completion. Returns true if the typed text has thereby become a valid query. */
  take(index: i32): bool {
    if (index < 0 || index >= this.options.length || this.isStale) return false;
    const option = this.options[index].text;
    const before = this.draft.substring(0, min(this.replaceAt, this.draft.length));
    const after = this.draft.substring(min(this.replaceEnd, this.draft.length));
    this.type(before + option + after);
    this.close();
    return this.typed.fault === null;
  }

  /** The typed text with its fault corrected; empty: there is no fault, or no correction. */
  get correction(): string {
    const fault = this.typed.fault;
    return fault === null ? "" : fault.corrected(this.draft);
  }

  /** Puts a chip into the field, in place of the typed text. Returns the query without the chip. */
  edit(index: i32): string {
    const query = this.terms.without(index);
    this.type(this.terms.chips[index].text);
    this.keepsDraft = true;
    return query;
  }
}
