// What is said to whoever typed something that does not fit.

/** The arguments do not fit the command: exit status 2. */
export class UsageError extends Error {
  /** More than one thing is wrong: each has a line of its own. */
  readonly lines: readonly string[];

  /** `command`: whose help says more; empty: that of the program. */
  constructor(message: string, command = "", lines: readonly string[] = []) {
    super(`${message}; see "${["worker", command, "--help"].filter(Boolean).join(" ")}"`);
    this.name = "UsageError";
    this.lines = lines.length > 1 ? lines : [];
  }
}

/** A value that does not fit; the message continues the option's name: "must be …". */
export class Unfit extends Error {
  /** Whether it is a choice that does not exist, which is wrong use and not bad input. */
  readonly isChoice: boolean;

  constructor(message: string, isChoice = false) {
    super(message);
    this.isChoice = isChoice;
  }
}
