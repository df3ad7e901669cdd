// Errors for invalid arguments.

/** The arguments do not fit the command: exit status 2. */
export class UsageError extends Error {
  /** The problems, if there are several: one in each line. Otherwise empty. */
  readonly lines: readonly string[];

  /** `command`: the command whose help has more; empty for the program. */
  constructor(message: string, command = "", lines: readonly string[] = []) {
    super(`${message}; see "${["worker", command, "--help"].filter(Boolean).join(" ")}"`);
    this.name = "UsageError";
    this.lines = lines.length > 1 ? lines : [];
  }
}

/** An invalid value; the message continues the option's name: "must be …". */
export class InvalidValue extends Error {
  /** True for an unsupported choice, which is wrong usage rather than invalid input. */
  readonly isChoice: boolean;

  constructor(message: string, isChoice = false) {
    super(message);
    this.isChoice = isChoice;
  }
}
