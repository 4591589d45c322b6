import { expect, test } from 'vitest';
import { buildProgram, buildProgramFor } from './program.ts';

const whole = await buildProgram();
const alwaysThere = ['completion'];

test.each(whole.commands.map((command) => command.name()))(
  'what is built for `%s` has the same subcommands and options as the whole',
  async (name) => {
    const built = await buildProgramFor(['--json', '--data-dir', 'batch', name, 'status']);
    const of = (program: typeof whole) =>
      program.commands.find((command) => command.name() === name)?.helpInformation();
    expect(of(built)).toBe(of(whole));
    if (alwaysThere.includes(name)) return;
    expect(built.commands.length).toBeLessThan(whole.commands.length / 2);
  },
);

test('a word that is no command leads to the whole, whose errors and help name all', async () => {
  const names = (program: typeof whole) => program.commands.map((command) => command.name());
  expect(names(await buildProgramFor(['btach', 'run']))).toEqual(names(whole));
  for (const words of [['--help'], ['help', 'batch'], ['--wrong', 'batch'], []]) {
    expect(names(await buildProgramFor(words))).toEqual(names(whole));
  }
});
