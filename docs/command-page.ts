/** The tables of `docs/cli.md`, from the definitions that parse the commands. */
import type { Argument, Command, Option } from 'commander';

/** The generated sections of the page, by name. */
export function commandSections(program: Command): Record<string, string> {
  const commands = leavesOf(program);
  return {
    options: table(program.options),
    commands: commands.map((command) => renderCommand(program, command)).join('\n'),
  };
}

/** The commands that do something, in the order of the help. */
function leavesOf(command: Command): Command[] {
  // A command with arguments of its own does something, whatever commands are below it.
  return command.commands.flatMap((each) => {
    const doesSomething = each.commands.length === 0 || each.registeredArguments.length > 0;
    return [...(doesSomething ? [each] : []), ...leavesOf(each)];
  });
}

function renderCommand(program: Command, command: Command): string {
  const options = command.options.length > 0 ? `\n${table(command.options)}` : '';
  const words = [...pathOf(program, command), ...command.registeredArguments.map(asWord)];
  return `## enrich ${words.join(' ')}

${command.description()}
${describeArguments(command.registeredArguments)}${options}`;
}

function pathOf(program: Command, command: Command): string[] {
  return command === program || command.parent === null
    ? []
    : [...pathOf(program, command.parent), command.name()];
}

function asWord(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? '...' : ''}`;
  return argument.required ? name : `[${name}]`;
}

function describeArguments(words: readonly Argument[]): string {
  const described = words.filter(({ description }) => description !== '');
  const lines = described.map(
    (word) => `- \`${word.name().toUpperCase()}\`: ${word.description}\n`,
  );
  return lines.length > 0 ? `\n${lines.join('')}` : '';
}

function table(options: readonly Option[]): string {
  const rows = options.map(({ flags, description, mandatory, defaultValue }) => {
    const fallback =
      defaultValue === undefined || defaultValue === true ? '' : `\`${defaultValue}\``;
    return `| \`${cell(flags)}\` | ${cell(description)} | ${mandatory ? 'required' : fallback} |`;
  });
  return `| option | meaning | default |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
