/** `completion bash|zsh`: a script by which a shell completes commands and options. */
import type { Command } from 'commander';
import { oneOf } from '../arguments.ts';

const shells = ['bash', 'zsh'] as const;
type Shell = (typeof shells)[number];

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a completion script; in ~/.bashrc: eval "$(enrich completion bash)"')
    .argument('<shell>', shells.join(' or '), oneOf(shells))
    .action((shell: Shell) => {
      process.stdout.write(completionScript(program, shell));
    });
}

/** The script for a program: after each command its subcommands and options, else names of files. */
export function completionScript(program: Command, shell: Shell): string {
  const cases = [...wordsAfter(program, [])].map(
    ([command, words]) => `    '${command}') words='${words.join(' ')}' ;;`,
  );
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_enrich() {
  local command='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) command="\${command:+$command }$word" ;; esac
  done
  while :; do
    case "$command" in
${cases.join('\n')}
    esac
    [ -n "$words" ] && break
    case "$command" in *' '*) command="\${command% *}" ;; *) command='' ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _enrich enrich
`;
}

/** Words that may follow each command, by the command's own words. */
function* wordsAfter(command: Command, path: readonly string[]): Generator<[string, string[]]> {
  const children = command.commands.filter((child) => child.name() !== 'help');
  const options = command.options.map(({ long }) => long ?? '').filter((name) => name !== '');
  yield [path.join(' '), [...children.map((child) => child.name()), ...options]];
  for (const child of children) yield* wordsAfter(child, [...path, child.name()]);
}
