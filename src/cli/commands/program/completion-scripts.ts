// The completion scripts for bash, zsh and fish. A script contains all commands and options, so that the completion of
// a word does not start `worker`.

export interface KnownOption {
  /** The option with its dashes, such as `--limit`. */
  readonly name: string;
  readonly describe: string;
  readonly takesValue: boolean;
  readonly isPath: boolean;
  /** The only valid values; empty: any value. */
  readonly choices: readonly string[];
}

export interface CompletionWords {
  readonly name: string;
  readonly describe: string;
  /** The only valid words for the first positional argument; empty: any word. */
  readonly words: readonly string[];
  readonly options: readonly KnownOption[];
}

export function bash(commands: readonly CompletionWords[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  const perCommand = commands.map(({ name, words, options }) => {
    const all = options.map((one) => one.name).join(" ");
    return `    ${name}) options="${all}"; words="${words.join(" ")}" ;;`;
  });
  const values = distinct(commands).flatMap(({ name, takesValue, isPath, choices }) => {
    if (!takesValue) return [];
    const files = `mapfile -t COMPREPLY < <(compgen -f -- "$word")`;
    const words = `mapfile -t COMPREPLY < <(compgen -W "${choices.join(" ")}" -- "$word")`;
    return [`    ${name}) ${isPath ? files : words}; return ;;`];
  });
  return `\
_worker() {
  local word="\${COMP_WORDS[COMP_CWORD]}" last="\${COMP_WORDS[COMP_CWORD-1]}" command= options= words= at
  COMPREPLY=()
  case "$last" in
${values.join("\n")}
  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case " ${names} " in *" \${COMP_WORDS[at]} "*) command="\${COMP_WORDS[at]}"; break ;; esac
  done
  case "$command" in
    '') words="${names} help" ;;
${perCommand.join("\n")}
  esac
  if [[ $word == -* ]]; then words="$options"; fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _worker worker
`;
}

export function zsh(commands: readonly CompletionWords[]): string {
  const list = commands.map(({ name, describe }) => `    ${single(`${name}:${describe}`)}`);
  const perCommand = commands.map(({ name, words, options }) => {
    const specs = options.map(({ name: option, describe, takesValue, isPath, choices }) => {
      const about = describe.replaceAll(/[[\]:\\]/g, " ");
      const what = isPath ? "_files" : choices.length > 0 ? `(${choices.join(" ")})` : " ";
      return single(`*${option}[${about}]${takesValue ? `:${option.slice(2)}:${what}` : ""}`);
    });
    const rest = words.length > 0 ? single(`1:word:(${words.join(" ")})`) : single("*: :_files");
    return `    ${name}) _arguments ${[...specs, rest].join(" ")} ;;`;
  });
  return `\
#compdef worker
_worker() {
  local -a commands
  commands=(
${list.join("\n")}
  )
  local at name=
  for ((at = 2; at < CURRENT; at++)); do
    if (( \${commands[(I)\${words[at]}:*]} )); then name=\${words[at]}; break; fi
  done
  if [[ -z $name ]]; then _describe command commands; return; fi
  words=("\${(@)words[at,-1]}")
  (( CURRENT = CURRENT - at + 1 ))
  case $name in
${perCommand.join("\n")}
  esac
}
compdef _worker worker
`;
}

export function fish(commands: readonly CompletionWords[]): string {
  const none = "-n __fish_use_subcommand";
  const lines = commands.flatMap(({ name, describe, words, options }) => {
    const here = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c worker ${none} -f -a ${name} -d ${quote(describe)}`,
      ...(words.length === 0 ? [] : [`complete -c worker ${here} -f -a ${quote(words.join(" "))}`]),
      ...options.map(({ name: option, describe: about, takesValue, isPath, choices }) => {
        const value = isPath ? " -r -F" : takesValue ? " -x" : "";
        const words = choices.length === 0 ? "" : ` -a ${quote(choices.join(" "))}`;
        return `complete -c worker ${here} -l ${option.slice(2)} -d ${quote(about)}${value}${words}`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** Returns every option once, with the choices that it has in all commands together. */
function distinct(commands: readonly CompletionWords[]): readonly KnownOption[] {
  const byName = new Map<string, KnownOption>();
  for (const option of commands.flatMap(({ options }) => options)) {
    const before = byName.get(option.name);
    const choices = [...new Set([...(before?.choices ?? []), ...option.choices])];
    byName.set(option.name, { ...option, choices });
  }
  return [...byName.values()];
}

const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const quote = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
