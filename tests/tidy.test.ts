/**
 * The house rules about source text. Each rule reports violations by file and line, and brings files that
 * violate it: a rule that finds nothing in those is useless.
 */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCycles, findWrongImports } from './support/import-layers.ts';
import { lineAt, parseSource, readSourceFiles, type SourceFile } from './support/source-files.ts';
import { findForeignTables, ownedTables, tablesOf } from './support/table-owners.ts';

interface Rule {
  name: string;
  /** Returns one `path:line what` for each violation. */
  find(files: readonly SourceFile[]): string[];
  /** Small projects, path to text, each with a violation. */
  broken: Record<string, string>[];
}

const FILE_LINES_MAX = 400;

/** Files that may be longer, because they contain only tables. */
const dataTables = new Set([
  'samples/generate/vocabulary/places.ts',
  'src/client/api-types.ts',
  'src/mapping/columns.test.ts',
  'tests/mutation/sql-mutants.ts',
]);

const testFile = /\.(test|test-suite)\.ts$|^(tests|bench)\//;
const sqlFile =
  /^(src\/(core|jobs)|samples)\/.+\.sql\.ts$|^src\/core\/db\/|^infra\/(dump-schema|embedded\/postgres-(readiness|roles))\.ts$/;

/** Files that send raw text: migrations, the record renderer's generated select, COPY, and the backup of all tables. */
const unsafeFile =
  /^src\/core\/(db\/|graph\/(graph|import\/import-records)\.sql\.ts$)|^src\/jobs\/backup\/backup\.sql\.ts$/;

/** Features that use another's statements on purpose, with the reason. */
const sharedStatements: Record<string, readonly string[]> = {
  // An export reads the people of a search.
  'src/jobs/export/matching-ids.sql.ts': ['src/core/search/compile.sql.ts'],
  // Refund, new list and the end of the old files are one transaction.
  'src/jobs/backup/doctor.ts': [
    'src/core/credits/credits.sql.ts',
    'src/jobs/batch/batches.sql.ts',
    'src/jobs/batch/reruns.sql.ts',
    'src/jobs/batch/stored-bytes.sql.ts',
  ],
  // Deliveries end in the transaction that brings them back.
  'src/jobs/backup/leave-the-past.ts': ['src/jobs/webhook/webhooks.sql.ts'],
  // One snapshot of money, batches and published copies.
  'src/jobs/audit/audit.ts': [
    'src/core/credits/audit.sql.ts',
    'src/core/graph-copy/published.sql.ts',
  ],
  'src/jobs/audit/audit-log.ts': ['src/core/credits/audit.sql.ts'],
  // The wallet is what transactions about an account's schedules or webhooks lock.
  'src/jobs/schedule/schedules.ts': ['src/core/credits/credits.sql.ts'],
  'src/jobs/webhook/webhooks.ts': ['src/core/credits/credits.sql.ts'],
  // A copy holds directors and financial periods with the bytes that a look-up returns.
  'src/core/graph-copy/copy.sql.ts': ['src/core/enrich/records.sql.ts'],
  // A call's matches are charged in its own statement.
  'src/core/calls/enrich-calls.ts': ['src/core/credits/charge-calls.sql.ts'],
  // Housekeeping only calls the delete statements of each feature.
  'src/jobs/housekeeping/run-housekeeping.ts': [
    'src/core/credits/key-budgets.sql.ts',
    'src/core/credits/owned.sql.ts',
    'src/core/graph/changes.sql.ts',
    'src/core/graph/former-identifiers.sql.ts',
    'src/core/idempotency/idempotency.sql.ts',
    'src/core/limits/limits.sql.ts',
    'src/core/search/search.sql.ts',
    'src/core/sessions/sessions.sql.ts',
    'src/jobs/webhook/webhooks.sql.ts',
  ],
};

/** Headless openings of doc comments (see `docs/glossary.md`). */
const headlessOpening = /\/\*\*\s*(?:\n\s*\* )?(Who|Whom|Whose|What|Whether|Where)\b/g;
/** Split, so that this file does not break its own rule. */
const docStart = ['/', '**'].join('');

/** Phrases that `docs/glossary.md` replaces, as far as they have no other meaning. */
const replacedPhrases = [
  /\bstoreys?\b/gi,
  /\b(?:un)?counted calls?\b/gi,
  /\bcalls? of one moment\b|\brides? together\b/gi,
  /\bround and round\b|\bby turns\b/gi,
  /\bclos(?:e|es|ed|ing) in on\b/gi,
  /\bke(?:ep|eps|pt|eping) house\b/gi,
  /\bends? well\b|\bpatiently\b/gi,
  /\bgo(?:es)? on by (?:itself|themselves)\b/gi,
  /\bwhat came of (?:it|them)\b/gi,
  /\bwhom (?:(?:an?|all|the) )?(?:filters?|search(?:es)?)\b|\bwhom not to contact\b/gi,
  /\bas (?:many|much) as (?:it|they) may\b/gi,
  /\bis no (?:json|parameter|cursor|id)\b|\bis not there\b/gi,
  /\blately\b|\bin force\b|\bchaos bench\b/gi,
  // As words of a sentence: as a name, a value or a part of an address they mean something.
  /(?<=[a-z’',.;:] )(?:no|some|any|every)body(?![\w@"'`-])|\b(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body(?:[’']s)?(?= [a-z])/g,
];

/** A constant of a module, named like a variable, whose value is a number, a string or a regular expression. */
const camelConstant = /^(?:export )?const ([a-z]\w*) = (?:-?\d|'|\/[^/*])/gm;

const rules: Rule[] = [
  {
    name: 'imports point from the higher layer to the lower one',
    find: perFile(findWrongImports),
    broken: [
      { 'src/core/credits/a.ts': "import type { B } from '../../jobs/b.ts';" },
      { 'src/core/credits/a.ts': "import express from 'express';" },
      { 'src/core/lib/a.ts': "import { b } from '../log.ts';" },
      { 'src/core/db/a.ts': "import { b } from '../keys/keys.ts';" },
      { 'src/core/keys/a.ts': "import { b } from '../context.ts';" },
      { 'src/core/enrich/a.ts': "import { b } from '../calls/b.ts';" },
      { 'src/core/match/a.ts': "import type { B } from '../enrich/b.ts';" },
      { 'src/core/identifiers/a.ts': "import { b } from '../log.ts';" },
      { 'src/jobs/queue/a.ts': "export * from '../../api/b.ts';" },
      { 'src/jobs/batch/a.ts': "import type { B } from '../list/b.ts';" },
      { 'src/jobs/list/a.ts': "import type { B } from '../export/b.ts';" },
      { 'src/jobs/queue/a.ts': "import { jobs } from '../registry.ts';" },
      { 'src/jobs/new/a.ts': "import { b } from '../queue/b.ts';" },
      { 'src/formats/csv/a.ts': "import type { B } from '../../core/enrich/b.ts';" },
      { 'src/jobs/queue/a.ts': "import { Queue } from 'bullmq';\nimport express from 'express';" },
      { 'src/client/a.ts': "import { b } from '../core/lib/b.ts';" },
      { 'src/api/a.ts': "const b = await import('../../workers/b.ts');" },
      { 'src/api/a.ts': "import { b } from './b.test-suite.ts';" },
      { 'infra/embedded/a.ts': "import { b } from '../../src/core/log.ts';" },
      { 'src/console/a.tsx': "import { b } from '../api/problem.ts';" },
      { 'src/console/search/a.tsx': "import { b } from '../exports/b.ts';" },
      { 'src/console/a.ts': "import { b } from './components/b.tsx';" },
      { 'src/console/a.tsx': "import path from 'node:path';" },
      { 'src/api/console/a.ts': "import { b } from '../../console/b.ts';" },
      { 'src/elsewhere/a.ts': "import { b } from './b.ts';" },
    ],
  },
  {
    name: 'there are no import cycles, not even for types',
    find: findCycles,
    broken: [
      { 'src/a.ts': "import { b } from './b.ts';", 'src/b.ts': "import type { A } from './a.ts';" },
    ],
  },
  {
    name: 'only src/core/config.ts reads the environment',
    find: perFile((file) =>
      testFile.test(file.path) || file.path === 'src/core/config.ts'
        ? []
        : matches(file, /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[|\}\s*=\s*process\b/g),
    ),
    broken: [
      { 'src/core/log.ts': '/** a\n */\nconst level = process.env.LOG_LEVEL;' },
      { 'src/core/log.ts': "const level = process['env']['A'];" },
      { 'workers/a.ts': 'const { env } = process;' },
    ],
  },
  {
    name: 'statements live in .sql.ts files and core/db',
    find: perFile((file) =>
      testFile.test(file.path) || sqlFile.test(file.path)
        ? []
        : file.taggedTemplates.map((at) => `${file.path}:${lineAt(file.text, at)} holds SQL`),
    ),
    broken: [
      { 'src/core/credits/credits.ts': 'await sql`select 1`;' },
      { 'src/jobs/batch/split.ts': 'await context.sql<{ a: number }[]>`select 1`;' },
      { 'src/api/a.sql.ts': 'await tx`select 1`;' },
      { 'src/core/credits/more-sql.ts': 'await tx`select 1`;' },
    ],
  },
  {
    name: 'features meet through functions, never through the statements of another',
    find: perFile((file) =>
      testFile.test(file.path) ? [] : findForeignQueries(file, featureOf(file.path)),
    ),
    broken: [
      { 'src/core/keys/keys.ts': "import { a } from '../credits/credits.sql.ts';" },
      { 'src/jobs/schedule/a.ts': "import type { A } from '../webhook/webhooks.sql.ts';" },
      { 'src/core/credits/a.sql.ts': "import { a } from '../keys/keys.sql.ts';" },
    ],
  },
  {
    name: 'a table is named by its own feature, and read by those that are listed',
    find: perFile(findForeignTables),
    broken: [
      { 'src/jobs/chunk/a.sql.ts': 'sql`select 1 from wallets`;' },
      { 'src/jobs/chunk/a.sql.ts': 'sql`update wallets w set balance = 0`;' },
      { 'src/jobs/chunk/a.sql.ts': `sql\`update \${sql('wallets')} set balance = 0\`;` },
      {
        'src/jobs/chunk/a.sql.ts':
          'sql`with a as (\n insert into\n ledger_entries default values)`;',
      },
      { 'src/jobs/monitor/a.sql.ts': 'sql`select 1 from batches b, reservations r`;' },
      {
        'src/core/keys/a.sql.ts':
          'const join = (sql: Sql) => sql`left join key_budgets b on true`;',
      },
      { 'src/core/credits/a.sql.ts': 'sql`select id from batches for update`;' },
      { 'src/core/credits/a.sql.ts': 'sql`select id from public.chunks`;' },
      { 'src/core/credits/a.sql.ts': 'sql`delete from sessions`;' },
      { 'src/jobs/monitor/a.sql.ts': 'sql`update batches set state = state`;' },
      { 'src/jobs/list/a.sql.ts': `sql\`insert into \${schema}.persons default values\`;` },
      { 'src/core/db/a.ts': 'sql`truncate accounts`;' },
      { 'infra/schema.sql': 'create table public.accounts (\n);\ncreate table public.fresh (\n);' },
    ],
  },
  {
    name: 'only core/db, the record renderer, the loader and the backup send raw text as SQL',
    find: perFile((file) =>
      testFile.test(file.path) || unsafeFile.test(file.path)
        ? []
        : matches(file, /\.\s*unsafe\s*\(/g),
    ),
    broken: [{ 'src/core/keys/keys.sql.ts': 'await sql.unsafe(text);' }],
  },
  {
    name: 'a file name is kebab-case and names its one subject',
    find: perFile(({ path: file }) => {
      const name = path.posix.basename(file);
      if (!/\.tsx?$/.test(name)) return [];
      const isVague = /^(index|utils|types|helpers|common)\.(pg\.)?(test\.)?tsx?$/.test(name);
      const isKebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*\.tsx?$/.test(name);
      return isVague || !isKebab ? [`${file}:1 is named ${name}`] : [];
    }),
    broken: [
      { 'src/core/index.ts': '' },
      { 'src/a/utils.ts': '' },
      { 'src/a/someFile.ts': '' },
      { 'src/a/SomePage.tsx': '' },
    ],
  },
  {
    name: 'a doc comment opens with its subject, not with a headless clause',
    find: perFile((file) =>
      /\.tsx?$/.test(file.path)
        ? [...file.text.matchAll(headlessOpening)].map(
            (match) => `${file.path}:${lineAt(file.text, match.index)} opens with ${match[1]}`,
          )
        : [],
    ),
    broken: [
      { 'src/a.ts': `${docStart} What a part delivers. */\nconst a = 1;` },
      { 'src/a.ts': `${docStart}\n * Whom a filter finds.\n */\nconst a = 1;` },
    ],
  },
  {
    name: 'texts use the terms of the glossary, not the phrases that they replace',
    find: perFile((file) =>
      /\.(tsx?|md)$/.test(file.path) &&
      !['docs/glossary.md', 'tests/tidy.test.ts'].includes(file.path)
        ? replacedPhrases.flatMap((phrase) =>
            [...file.text.matchAll(phrase)]
              // Comments and strings are blank in `code`.
              .filter((match) => !file.code.startsWith(match[0], match.index))
              .map((match) => `${file.path}:${lineAt(file.text, match.index)} says ${match[0]}`),
          )
        : [],
    ),
    broken: [
      { 'docs/a.md': 'A counted call costs one request.' },
      { 'docs/a.md': 'The batch goes on by itself.' },
      { 'README.md': 'Export the people whom a filter means.' },
      { 'src/a.ts': '// The key is no longer in force.' },
      { 'src/a.ts': '/** Tells nobody. */\nconst nobody = 1;' },
      { 'src/a.test.ts': "test('somebody opens the page', () => {});" },
      { 'src/a.ts': "throw invalidParameter('body', 'is no JSON');" },
    ],
  },
  {
    name: 'a module constant that is a number, a string or a regular expression is in capitals',
    find: perFile((file) =>
      /\.tsx?$/.test(file.path) && !/\.(test|test-suite)\.tsx?$|^tests\//.test(file.path)
        ? [...file.text.matchAll(camelConstant)].map(
            (match) => `${file.path}:${lineAt(file.text, match.index)} names it ${match[1]}`,
          )
        : [],
    ),
    broken: [
      { 'src/a.ts': 'const rowsMax = 3_000;' },
      { 'src/a.ts': "export const header = 'email';" },
      { 'bench/a.ts': 'const digits = /[0-9]/;' },
    ],
  },
  {
    name: 'Unicode texts are normalised in linear time',
    find: perFile((file) =>
      /^src\/(?!console\/|core\/lib\/normal-form\.ts)/.test(file.path) && !testFile.test(file.path)
        ? matches(file, /(?<!path)\.normalize\(/g)
        : [],
    ),
    broken: [{ 'src/core/a.ts': "text.normalize('NFC');" }],
  },
  {
    name: 'exports have names',
    find: perFile((file) =>
      /(^|\/)[\w-]+\.config\.ts$/.test(file.path)
        ? []
        : matches(file, /\bexport\s+default\b|\bas\s+default\b/g),
    ),
    broken: [{ 'src/a.ts': 'export default 1;' }, { 'src/a.ts': 'export { a as default };' }],
  },
  {
    name: `a file that is not a data table has at most ${FILE_LINES_MAX} lines`,
    find: perFile(({ path: file, text }) => {
      const lines = text.trimEnd().split('\n').length;
      if (!/\.tsx?$/.test(file) || dataTables.has(file) || lines <= FILE_LINES_MAX) return [];
      return [`${file}:${FILE_LINES_MAX + 1} is one of ${lines} lines`];
    }),
    broken: [
      { 'src/a.ts': 'a();\n'.repeat(FILE_LINES_MAX + 1) },
      { 'src/a.tsx': 'a();\n'.repeat(FILE_LINES_MAX + 1) },
    ],
  },
  {
    name: 'no text names a path of the machine that it was written on',
    find: perFile((file) =>
      [
        ...file.text.matchAll(
          testFile.test(file.path)
            ? /(?<![\w.])\/(work|home)\//g
            : /(?<![\w.])\/(work|home|tmp)\/|\.\.\/shared\b/g,
        ),
      ].map((match) => `${file.path}:${lineAt(file.text, match.index)} names ${match[0]}`),
    ),
    broken: [
      { 'docs/a.md': 'See\n`/tmp/a`.' },
      { 'src/a.ts': "// as in '../shared/a.md'" },
      { 'README.md': ['cd ', 'work', 'main'].join('/') },
    ],
  },
];

function perFile(find: (file: SourceFile) => string[]): Rule['find'] {
  return (files) => files.flatMap(find);
}

function matches(file: SourceFile, pattern: RegExp): string[] {
  return [...file.code.matchAll(pattern)].map(
    (match) => `${file.path}:${lineAt(file.text, match.index)} says ${match[0].trim()}`,
  );
}

/** Folders of one feature, the life of a batch: their statements are about the same tables. */
const batchRooms = /^src\/jobs\/(batch|chunk|list|export|result|audit|housekeeping)\//;

/** Statements that may always be composed: money and state change together, and all mean the same record and graph. */
const sharedFragments = /^src\/core\/(credits\/.+|graph\/(in-state|merged-ids))\.sql\.ts$/;

/** The folder directly under core or jobs; other code belongs to no feature and may call any of them. */
function featureOf(file: string): string | undefined {
  return batchRooms.test(file) ? 'a batch' : /^src\/(core|jobs)\/[\w-]+\//.exec(file)?.[0];
}

function findForeignQueries(file: SourceFile, feature: string | undefined): string[] {
  if (feature === undefined) return [];
  return file.imports
    .filter(({ target }) => target.endsWith('.sql.ts') && featureOf(target) !== feature)
    .filter(({ target }) => !(file.path.endsWith('.sql.ts') && sharedFragments.test(target)))
    .filter(({ target }) => !(sharedStatements[file.path] ?? []).includes(target))
    .map(({ target, line }) => `${file.path}:${line} imports ${target}`);
}

const files = readSourceFiles();

test('the project is found', () => {
  expect(files.map((file) => file.path)).toContain('src/core/config.ts');
});

test('every table that has an owner exists', () => {
  const schema = files.find((file) => file.path === 'infra/schema.sql');
  const tables = tablesOf(schema?.text ?? '').map(({ name }) => name);
  expect(ownedTables.toSorted()).toEqual(tables.toSorted());
});

describe.each(rules)('$name', ({ find, broken }) => {
  test('holds', () => {
    expect(find(files)).toEqual([]);
  });

  test.each(broken)('finds violations, case %#', (project) => {
    const sources = Object.entries(project).map(([file, text]) => parseSource(file, text));
    expect(find(sources)).toHaveLength(1);
    expect(find(sources)[0]).toMatch(/^\S+\.\w+:\d+ ./);
  });
});

test('comments, strings and templates hide nothing and invent nothing', () => {
  const text = `// import { a } from './a.ts';
    const quoted = 'from \\'./b.ts\\'' + \`import '\${await import('./c.ts')}' \\\` \${\`}\`}\`;
    const pattern = /[\`'/]+\\/\\//; const half = 1 / 2; /* process.env */
    import './d.ts'; const raw = String.raw\`a\`; const row = sql<{ a: '\`' }>\`b\`;`;
  const { code, imports, taggedTemplates } = parseSource('src/x.ts', text);
  expect(imports.map(({ target, line }) => `${target}:${line}`)).toEqual([
    'src/c.ts:2',
    'src/d.ts:4',
  ]);
  expect(taggedTemplates.map((at) => lineAt(text, at))).toEqual([4]);
  expect(code).not.toContain('process.env');
  expect(code).toHaveLength(text.length);
});
