/** The options as a page to read and as a file to fill in. */

/** An option as a reader sees it. */
interface DocumentedOption {
  env: string;
  /** What stands in for the value where it is not set: the value itself, or a remark in brackets. */
  shown: string;
  doc: string;
}

/** Returns `docs/config.md`. */
export function renderConfigPage(options: readonly DocumentedOption[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = options.map(({ env, shown, doc }) => {
    const value = isRemark(shown) ? cell(shown) : `\`${cell(shown)}\``;
    return `| \`${env}\` | ${value} | ${cell(doc)} |`;
  });
  return `# Configuration

Every option is an environment variable. None is needed to start; an empty one counts as absent, and
one that cannot be used ends the process at its start with a sentence that names it. The table is
written by \`npm run docs\` from \`src/core/config.ts\`.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}
`;
}

/** Returns `.env.example`: every option, none of them set. */
export function renderEnvExample(options: readonly DocumentedOption[]): string {
  const entries = options.map(({ env, shown, doc }) => {
    const value = isRemark(shown) ? '' : shown;
    const remark = isRemark(shown) ? ` Default: ${shown.slice(1, -1)}.` : '';
    return `# ${doc}${remark}\n# ${env}=${value}\n`;
  });
  return `# Copy to .env, take the # from what should differ, and start with
# \`node --env-file=.env dist/workers/cli.js up\`. Written by \`npm run docs\` from src/core/config.ts.

${entries.join('\n')}`;
}

function isRemark(shown: string): boolean {
  return shown.startsWith('(') && shown.endsWith(')');
}
