/**
 * The locks and the work of a migration, read from its text: for `enrich migrate --plan`, and for the test that refuses a
 * migration which would make a busy table wait. Knows the statements that a migration of a live table may need; it says of
 * any other that it does not know it. See "Explicit Locking" and ALTER TABLE in the manual of Postgres.
 */

/** Weakest first. `SHARE` and stronger make writers wait, `ACCESS EXCLUSIVE` readers too. */
export const lockModes = [
  'ROW EXCLUSIVE',
  'SHARE UPDATE EXCLUSIVE',
  'SHARE',
  'SHARE ROW EXCLUSIVE',
  'ACCESS EXCLUSIVE',
] as const;
export type LockMode = (typeof lockModes)[number];

/** Work while the lock is held: `brief` is independent of the table's size. */
export type Work = 'brief' | 'scan' | 'index' | 'rewrite';

export interface Step {
  /** The statement on one line, without comments. */
  statement: string;
  /** The existing table that it locks; null for a new one, and for a statement without a table. */
  table: string | null;
  lock: LockMode | null;
  work: Work;
  /** Reason why a live service must not run it; null for none. */
  problem: string | null;
}

type Kind = Pick<Step, 'lock' | 'work' | 'problem'>;

const NAME = '(?:if (?:not )?exists )?(?:only )?((?:"[^"]+"|[\\w.]+)+)';
const VOLATILE =
  /\b(random|gen_random_uuid|uuidv7|clock_timestamp|timeofday|nextval)\s*\(|\b(big|small)?serial\b|\bgenerated\b/;

/** Reads the steps of a migration in order. Tables that it creates are new to everyone, and cost nothing. */
export function readSteps(text: string): Step[] {
  const fresh = new Set<string>();
  const isUnusedSince = /^-- Unused since \d+\.\d+\.\d+/m.test(text);
  return splitStatements(text).map((statement) => {
    const created = new RegExp(`^create (?:unlogged )?table ${NAME}`).exec(statement)?.[1];
    if (created !== undefined) fresh.add(created);
    const { table, kind } = classify(statement);
    if (table === null || fresh.has(table)) return { statement, table: null, ...none };
    const isRemoval = kind.problem === REMOVES;
    return { statement, table, ...kind, problem: isRemoval && isUnusedSince ? null : kind.problem };
  });
}

/** True for a file whose statements run one by one, each in its own transaction: for `create index concurrently`. */
export function runsOutsideTransaction(text: string): boolean {
  return /^-- Outside a transaction\b/m.test(text);
}

/** Oldest version whose processes may start on a database with this migration; null for its own version. */
export function readRunsWith(text: string): string | null {
  return /^-- Runs with (\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null;
}

const REMOVES =
  'removes what the version before it may need: do it a version later, with a line `-- Unused since VERSION`';
const none: Kind = { lock: null, work: 'brief', problem: null };
const kindOf = (lock: LockMode, work: Work, problem: string | null = null): Kind => ({
  lock,
  work,
  problem,
});
const LONG = 'holds a lock that others wait for while it reads the whole table';

function classify(statement: string): { table: string | null; kind: Kind } {
  const match = (pattern: string) => new RegExp(`^${pattern}`).exec(statement)?.[1] ?? null;
  const index = /^create (?:unique )?index (concurrently )?(?:.*? )?on (?:only )?([\w.]+)/.exec(
    statement,
  );
  if (index !== null) {
    const [, concurrently, table = ''] = index;
    const problem = `${LONG}: use \`create index concurrently if not exists\` in a file with the line \`-- Outside a transaction\``;
    const kind = concurrently
      ? kindOf('SHARE UPDATE EXCLUSIVE', 'index')
      : kindOf('SHARE', 'index', problem);
    return { table, kind };
  }
  const altered = match(`alter table ${NAME}`);
  if (altered !== null) return { table: altered, kind: ofAlterations(statement) };
  const triggered = /^create (?:or replace )?(?:constraint )?trigger .*? on ([\w.]+)/.exec(
    statement,
  );
  if (triggered !== null) {
    return { table: triggered[1] ?? null, kind: kindOf('SHARE ROW EXCLUSIVE', 'brief') };
  }
  const changed = match(`(?:update|delete from|insert into) ${NAME}`);
  if (changed !== null) {
    if (statement.startsWith('insert')) {
      return { table: changed, kind: kindOf('ROW EXCLUSIVE', 'brief') };
    }
    const problem =
      'changes all rows in one transaction: do it in batches, from a job or a command';
    return { table: changed, kind: kindOf('ROW EXCLUSIVE', 'rewrite', problem) };
  }
  const dropped = match(`drop table ${NAME}`);
  if (dropped !== null)
    return { table: dropped, kind: kindOf('ACCESS EXCLUSIVE', 'brief', REMOVES) };
  if (/^drop (index|trigger|function|view|type|sequence)\b/.test(statement)) {
    return { table: '(its table)', kind: kindOf('ACCESS EXCLUSIVE', 'brief', REMOVES) };
  }
  const isFree = /^(create|comment on|grant|revoke|set|select|do) ?/.test(statement);
  return isFree
    ? { table: null, kind: none }
    : {
        table: '(unknown)',
        kind: kindOf('ACCESS EXCLUSIVE', 'rewrite', 'is not known to be safe'),
      };
}

/** The strongest of the alterations; the first problem. */
function ofAlterations(statement: string): Kind {
  const alterations = splitAtCommas(
    statement.replace(/^alter table (if exists )?(only )?\S+ /, ''),
  );
  const kinds = alterations.map(ofAlteration);
  const strongest = (a: Kind, b: Kind) =>
    lockModes.indexOf(a.lock ?? 'ROW EXCLUSIVE') >= lockModes.indexOf(b.lock ?? 'ROW EXCLUSIVE')
      ? a
      : b;
  const works: Work[] = ['brief', 'scan', 'index', 'rewrite'];
  const work = kinds
    .map((kind) => kind.work)
    .toSorted((a, b) => works.indexOf(b) - works.indexOf(a));
  const { lock } = kinds.reduce(strongest);
  const problem = kinds.find((kind) => kind.problem !== null)?.problem ?? null;
  return { lock, work: work[0] ?? 'brief', problem };
}

function ofAlteration(text: string): Kind {
  if (text.startsWith('validate constraint ')) return kindOf('SHARE UPDATE EXCLUSIVE', 'scan');
  if (/^(drop|rename)\b/.test(text)) return kindOf('ACCESS EXCLUSIVE', 'brief', REMOVES);
  if (/^add (constraint|check|unique|primary key|foreign key|exclude)\b/.test(text)) {
    return ofConstraint(text);
  }
  if (/^add /.test(text)) return ofColumn(text);
  if (/^alter (column )?\S+ (set data )?type /.test(text)) {
    return kindOf('ACCESS EXCLUSIVE', 'rewrite', `${LONG} and writes it again`);
  }
  if (/^alter (column )?\S+ set not null/.test(text)) {
    const problem = `${LONG}: add \`check (COLUMN is not null) not valid\`, and validate it in the next file`;
    return kindOf('ACCESS EXCLUSIVE', 'scan', problem);
  }
  if (/^alter (column )?\S+ (set|drop) (default|not null|statistics)/.test(text)) {
    const isWeak = /set statistics/.test(text);
    return kindOf(isWeak ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE', 'brief');
  }
  if (/^set \(/.test(text)) return kindOf('SHARE UPDATE EXCLUSIVE', 'brief');
  return kindOf('ACCESS EXCLUSIVE', 'rewrite', 'is not known to be safe');
}

function ofConstraint(text: string): Kind {
  const isForeign = /\bforeign key\b|\breferences\b/.test(text);
  const lock = isForeign ? 'SHARE ROW EXCLUSIVE' : 'ACCESS EXCLUSIVE';
  if (/\bnot valid$/.test(text) || /\busing index\b/.test(text)) return kindOf(lock, 'brief');
  const isIndex = /\b(unique|primary key|exclude)\b/.test(text);
  const cure = isIndex
    ? 'create its index concurrently first, and add it `using index`'
    : 'add it `not valid`, and validate it in the next file';
  return kindOf(lock, isIndex ? 'index' : 'scan', `${LONG}: ${cure}`);
}

function ofColumn(text: string): Kind {
  const lock = 'ACCESS EXCLUSIVE';
  if (VOLATILE.test(text)) {
    return kindOf(
      lock,
      'rewrite',
      `${LONG} and writes it again: add the column with a constant default`,
    );
  }
  if (/\bnot null\b/.test(text) && !/\bdefault\b/.test(text)) {
    return kindOf(
      lock,
      'brief',
      'fails on a table with rows, and for the version before it: give the column a default',
    );
  }
  if (/\b(check|references|unique|primary key)\b/.test(text)) {
    return kindOf(
      lock,
      /\b(unique|primary key)\b/.test(text) ? 'index' : 'scan',
      `${LONG}: add the constraint on its own, \`not valid\``,
    );
  }
  return kindOf(lock, 'brief');
}

/** The statements on one line each, in lower case outside quotes, without comments. */
function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let current = '';
  const token =
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^;'"$/-]+|[\s\S]/g;
  for (const [piece] of text.matchAll(token)) {
    if (piece.startsWith('--') || piece.startsWith('/*')) current += ' ';
    else if (piece === ';') {
      statements.push(current);
      current = '';
    } else current += /^['"$]/.test(piece) ? piece : piece.toLowerCase();
  }
  return [...statements, current]
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

/** Splits at commas outside brackets. */
function splitAtCommas(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of text) {
    if (letter === '(') depth++;
    if (letter === ')') depth--;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim());
}
