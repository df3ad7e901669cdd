/**
 * The query bar: the text that is being typed after the chips, its completions, and its fault. Only a valid text that
 * is submitted, by Enter or by a click on a completion or correction, becomes chips and is searched for.
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
  /**
   * Whether the typed text was submitted. Before that, a fault in its last word is not shown, because the word may be
   * unfinished.
   */
  isSubmitted: bool = false;
  options: Suggestion[] = [];
  /** The range of the typed text that a completion replaces. */
  replaceAt: i32 = 0;
  replaceEnd: i32 = 0;
  /** The text for which the completions were requested. They cannot be used once the text differs. */
  private proposedFor: string = "";
  /** Whether Tab was pressed before the completions of the present text arrived. Then the first of them is used. */
  wantsFirst: bool = false;
  /** The index of the marked completion; -1: none. */
  marked: i32 = -1;
  /** Whether the typed text is a chip that is being changed. Then the text stays when the address changes. */
  private keepsDraft: bool = false;
  /** Counts the changes of the text, so that completions are requested only for the last text. */
  serial: i32 = 0;

  /**
   * Shows the query of the address. A valid query becomes chips, an invalid query the typed text. With a valid query,
   * the typed text is cleared, unless it is invalid or edit() has just put it there.
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

  /** The fault to show; null: the typed text has none, or only its last word has one and may be unfinished. */
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

  /** Inserts a completion. Returns whether it was inserted and the text is a valid query now. */
  take(index: i32): bool {
    if (index < 0 || index >= this.options.length || this.isStale) return false;
    const option = this.options[index].text;
    const before = this.draft.substring(0, min(this.replaceAt, this.draft.length));
    const after = this.draft.substring(min(this.replaceEnd, this.draft.length));
    this.type(before + option + after);
    this.close();
    return this.typed.fault === null;
  }

  /** The typed text with its fault corrected; empty: there is no fault or no correction. */
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
