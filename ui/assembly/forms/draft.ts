/** The texts of a form that is being filled in, and their faults, by field name. */
export class Draft {
  /** The time to which relative times refer, set just before the form is checked and sent. */
  now: f64 = NaN;
  private values: Map<string, string> = new Map<string, string>();
  private faults: Map<string, string> = new Map<string, string>();
  /** The names of the fields that have been drawn. */
  private shown: Set<string> = new Set<string>();

  value(name: string): string {
    return this.values.has(name) ? this.values.get(name) : "";
  }

  on(name: string): bool {
    return this.value(name) === "on";
  }

  set(name: string, value: string): void {
    this.values.set(name, value);
    this.faults.delete(name);
  }

  /** Sets a field if it is empty. */
  fill(name: string, value: string): void {
    if (this.value(name).length === 0) this.set(name, value);
  }

  /** Returns the fault of a field; empty: none. Also adds the field to `shown`, because drawing a field calls this. */
  fault(name: string): string {
    this.shown.add(name);
    return this.faults.has(name) ? this.faults.get(name) : "";
  }

  reject(name: string, reason: string): void {
    if (reason.length > 0) this.faults.set(name, reason);
  }

  shows(name: string): bool {
    return this.shown.has(name);
  }

  /** Clears the faults before the form is checked again. */
  forgive(): void {
    this.faults.clear();
  }

  get faulty(): bool {
    return this.faults.size > 0;
  }

  /** The name of the field that was rejected first. Read it only if `faulty` is true. */
  get firstFault(): string {
    return this.faults.keys()[0];
  }
}
