// Errors for invalid arguments.

/** The error for arguments that do not fit the command. The program then exits with status 2. */
export class UsageError extends Error {
  /** If there are several problems, one line for each; otherwise empty. */
  readonly lines: readonly string[];

  /** `command`: the name of the command to whose help the message refers; empty for the help of the program. */
  constructor(message: string, command = "", lines: readonly string[] = []) {
    super(`${message}; see "${["worker", command, "--help"].filter(Boolean).join(" ")}"`);
    this.name = "UsageError";
    this.lines = lines.length > 1 ? lines : [];
  }
}

/** The error for an invalid value. The message follows the name of the option or argument. Example: "must be …". */
export class InvalidValue extends Error {
  /** Whether the value is not among the valid choices. Then givenIn() throws a UsageError, otherwise an InputError. */
  readonly isChoice: boolean;

  constructor(message: string, isChoice = false) {
    super(message);
    this.isChoice = isChoice;
  }
}
