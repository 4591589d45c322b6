/** Every command of `enrich` as a page, from the definitions that parse it. */
import type { Argument, Command, Option } from 'commander';

/** Returns `docs/cli.md`. */
export function renderCommandPage(program: Command): string {
  const commands = leavesOf(program);
  return `# The command line

Written by \`npm run docs\` from the commands themselves; \`enrich COMMAND --help\` shows the same.

In a checkout a command is \`npm run -s enrich -- COMMAND\`; once built, \`node dist/workers/cli.js COMMAND\` starts
quicker. Progress and logs go to stderr. Exit codes: 0 done, 1 failed, 2 used wrongly.

Commands that talk HTTP (\`batch\`, \`search\`, \`export\`, \`schedule\`, \`webhook\`) need \`ENRICH_API_KEY\`, and
\`ENRICH_URL\` where the service is not on this machine. The others open the database: that of a running
\`enrich up\`, found by its data folder, or \`DATABASE_URL\`.

Every command takes:

${table(program.options)}
${commands.map((command) => renderCommand(program, command)).join('\n')}`;
}

/** The commands that do something, in the order of the help. */
function leavesOf(command: Command): Command[] {
  return command.commands.flatMap((each) => (each.commands.length > 0 ? leavesOf(each) : [each]));
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
