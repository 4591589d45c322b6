/**
 * One row of a lead list and its correct match: pure functions of the seed, the row's number and the person that
 * the graph returned for it.
 */

import { personIdentifierCodes } from '../../../src/core/graph/identifier-kinds.ts';
import { assert, must } from '../../../src/core/lib/assert.ts';
import { drawNumber } from '../draw-number.ts';
import type { LeadIdentifier, LeadNeed, LeadPerson } from './leads.sql.ts';
import {
  type Pick,
  spellDirtyEmail,
  spellEmail,
  spellHandle,
  spellName,
  spellNoEmail,
  spellNotes,
  spellPhone,
  spellProfile,
  spellWebsite,
} from './spell-identifiers.ts';
import { type UnmatchableLead, unmatchableLeadOf } from './strangers.ts';

/** Columns of the list, in order. */
export const leadColumns = [
  'Name',
  'Company',
  'Job Title',
  'E-mail',
  'Phone',
  'Twitter',
  'Profile URL',
  'Website',
  'Country',
  'Notes',
] as const;
export type LeadCells = Record<(typeof leadColumns)[number], string>;

/** The truth about a row. Kinds that begin with `match` or are `stale_handle` expect a person. */
export interface LeadTruth {
  expectedPersonId: number | null;
  kind:
    | 'match'
    | 'match_dirty_email'
    | 'match_second_identifier'
    | 'match_duplicate'
    | 'stale_handle'
    | 'miss'
    | 'miss_role_mailbox'
    | 'ambiguous'
    | 'no_identifier'
    | 'unparsed_email';
  /** The kind of the deciding identifier; '' when there is none. */
  identifier: ShownKind | '';
  /** Its canonical value. */
  normalised: string;
  /** Ids of its holders, when ambiguous. */
  candidates: number[];
}

type ShownKind = 'professional_network' | 'email' | 'phone' | 'twitter';

export type LeadShape =
  | 'person'
  | 'dirty_email'
  | 'second_identifier'
  | 'stranger'
  | 'role_mailbox'
  | 'no_identifier'
  | 'no_email';

/** The plan of a row, before the graph is read. */
export interface LeadPlan {
  row: number;
  shape: LeadShape;
  /** Null when the row refers to no person in the graph. */
  need: LeadNeed | null;
  pick: Pick;
}

export type LeadStyle = 'messy' | 'plain';

/** Returns an independent draw for each use inside one row. */
function pickerOf(seed: number, row: number): Pick {
  let use = 0;
  return (n) => drawNumber(row, (seed % 65_521) * 65_536 + use++, n);
}

/** Decides the content of row number `row` (from 1). */
export function planLead(seed: number, row: number, style: LeadStyle): LeadPlan {
  const pick = pickerOf(seed, row);
  const draw = pick(1000);
  const plan = (shape: LeadShape, need: LeadNeed | null): LeadPlan => ({ row, shape, need, pick });
  if (style === 'plain') {
    if (draw >= 710) return plan('stranger', null);
    return plan('person', weighted(pick, plainNeeds));
  }
  if (draw < 600) return plan('person', weighted(pick, messyNeeds));
  if (draw < 645) return plan('person', 'switchboard');
  if (draw < 655) return plan('person', 'shared_mailbox');
  if (draw < 670) return plan('person', 'former_handle');
  if (draw < 695) return plan('dirty_email', 'email');
  if (draw < 717) return plan('second_identifier', 'email');
  if (draw < 755) return plan('no_identifier', null);
  if (draw < 763) return plan('no_email', null);
  if (draw < 780) return plan('role_mailbox', null);
  return plan('stranger', null);
}

const plainNeeds = { email: 70, professional_network: 12, phone: 10, twitter: 8 } as const;
const messyNeeds = { email: 45, phone: 22, professional_network: 18, twitter: 15 } as const;

function weighted(pick: Pick, weights: Readonly<Record<string, number>>): LeadNeed {
  let left = pick(100);
  for (const [need, weight] of Object.entries(weights)) {
    if (left < weight) return need as LeadNeed;
    left -= weight;
  }
  throw new Error('the weights of lead needs sum to less than 100');
}

/** The row's cells and its truth. `person` is null when the graph has no person for the plan. */
export function writeLead(
  plan: LeadPlan,
  person: LeadPerson | null,
  style: LeadStyle,
): { cells: LeadCells; truth: LeadTruth } {
  const { pick, need } = plan;
  const stranger = unmatchableLeadOf(plan.row, pick);
  if (need === null || person === null) return writeUnmatchableLead(plan, stranger, style);
  const shown = choosePersonIdentifiers(person, need, style, pick);
  const truth = decideTruth(shown);
  const cells = aboutPerson(person, style, pick);
  for (const identifier of shown) fillIdentifier(cells, identifier, style, pick);
  if (plan.shape === 'dirty_email') {
    const email = must(
      shown.find(({ kind }) => shownKind(kind) === 'email'),
      'an email',
    ).value;
    cells['E-mail'] = spellDirtyEmail(email, cells.Name, stranger.email, pick);
    const isByEmail = truth.kind === 'match' && truth.identifier === 'email';
    if (isByEmail) truth.kind = 'match_dirty_email';
  }
  if (plan.shape === 'second_identifier' && cells['Profile URL'] === '') {
    cells['Profile URL'] = spellProfile(stranger.profile, pick);
    if (truth.kind === 'match') truth.kind = 'match_second_identifier';
  }
  return { cells, truth };
}

const codes = personIdentifierCodes;
const codesOfNeed: Readonly<Record<LeadNeed, readonly number[]>> = {
  email: [codes.work_email, codes.email],
  phone: [codes.phone],
  professional_network: [codes.professional_network],
  twitter: [codes.twitter],
  former_handle: [codes.former_handle],
  switchboard: [codes.phone],
  shared_mailbox: [codes.work_email],
};

/** Returns the identifier that the row needs and, in messy lists, occasionally others of the person. */
function choosePersonIdentifiers(
  person: LeadPerson,
  need: LeadNeed,
  style: LeadStyle,
  pick: Pick,
): LeadIdentifier[] {
  const wanted = codesOfNeed[need];
  const fitting = person.identifiers
    .filter((identifier) => wanted.includes(identifier.kind))
    .sort(
      (a, b) =>
        b.owners.length - a.owners.length || wanted.indexOf(a.kind) - wanted.indexOf(b.kind),
    );
  const main = must(fitting[0], `${need} of person ${person.id}`);
  const isAlone = need === 'switchboard' || need === 'shared_mailbox' || need === 'former_handle';
  const shown = [main];
  for (const other of person.identifiers) {
    const isNew = !shown.some(({ kind }) => shownKind(kind) === shownKind(other.kind));
    const chance = style === 'messy' ? !isAlone && pick(100) < 12 : pick(100) < 2;
    if (isNew && chance && other.kind !== codes.former_handle) shown.push(other);
  }
  return shown;
}

function shownKind(kind: number): ShownKind {
  switch (kind) {
    case codes.professional_network:
      return 'professional_network';
    case codes.email:
    case codes.work_email:
      return 'email';
    case codes.phone:
      return 'phone';
    default:
      return 'twitter';
  }
}

const trust: readonly ShownKind[] = ['professional_network', 'email', 'phone', 'twitter'];

/** The first identifier in order of trust that belongs to one person wins; otherwise a shared one is ambiguous. */
function decideTruth(shown: readonly LeadIdentifier[]): LeadTruth {
  const trusted = [...shown].sort(
    (a, b) => trust.indexOf(shownKind(a.kind)) - trust.indexOf(shownKind(b.kind)),
  );
  const unique = trusted.find((identifier) => identifier.owners.length === 1);
  const decisive = must(unique ?? trusted[0], 'an identifier');
  const [owner] = decisive.owners;
  assert(owner !== undefined, 'a shown identifier has an owner');
  return {
    expectedPersonId: unique === undefined ? null : owner,
    kind: kindOf(unique),
    identifier: shownKind(decisive.kind),
    normalised: decisive.value,
    candidates: unique === undefined ? decisive.owners : [],
  };
}

function kindOf(unique: LeadIdentifier | undefined): LeadTruth['kind'] {
  if (unique === undefined) return 'ambiguous';
  return unique.kind === codes.former_handle ? 'stale_handle' : 'match';
}

function emptyCells(): LeadCells {
  return Object.fromEntries(leadColumns.map((column) => [column, ''])) as LeadCells;
}

function aboutPerson(person: LeadPerson, style: LeadStyle, pick: Pick): LeadCells {
  const cells = emptyCells();
  if (style === 'plain') {
    cells.Name = `${person.name} ${person.surname}`;
    cells.Company = person.company;
    cells['Job Title'] = person.title;
    cells.Country = person.country;
    return cells;
  }
  cells.Name = spellName(person.name, person.surname, pick);
  if (pick(10) < 6) cells.Company = person.company;
  if (pick(10) < 5) cells['Job Title'] = person.title;
  if (pick(10) < 7) cells.Country = pick(4) === 0 ? person.iso2 : person.country;
  cells.Website = spellWebsite(person.website, pick);
  cells.Notes = spellNotes(person.locality, pick);
  return cells;
}

function fillIdentifier(
  cells: LeadCells,
  { kind, value }: { kind: number; value: string },
  style: LeadStyle,
  pick: Pick,
): void {
  const isPlain = style === 'plain';
  switch (shownKind(kind)) {
    case 'professional_network':
      cells['Profile URL'] = isPlain ? `/in/${value}` : spellProfile(value, pick);
      break;
    case 'email':
      cells['E-mail'] = isPlain ? value : spellEmail(value, pick);
      break;
    case 'phone':
      cells.Phone = isPlain ? value : spellPhone(value, cells.Country !== '', pick);
      break;
    case 'twitter':
      cells.Twitter = isPlain ? `@${value}` : spellHandle(value, pick);
  }
}

/** A row about a person who is not in the graph, or without any identifier. */
function writeUnmatchableLead(
  plan: LeadPlan,
  stranger: UnmatchableLead,
  style: LeadStyle,
): { cells: LeadCells; truth: LeadTruth } {
  const { pick, shape } = plan;
  const cells = emptyCells();
  cells.Name =
    style === 'plain'
      ? `${stranger.name} ${stranger.surname}`
      : spellName(stranger.name, stranger.surname, pick);
  if (style === 'plain' || pick(2) === 0) cells.Company = stranger.company;
  if (style === 'messy') cells.Notes = spellNotes(stranger.city, pick);
  const truth = (kind: LeadTruth['kind'], identifier: ShownKind | '', normalised: string) => ({
    cells,
    truth: { expectedPersonId: null, kind, identifier, normalised, candidates: [] },
  });
  if (shape === 'no_identifier') return truth('no_identifier', '', '');
  if (shape === 'no_email') {
    cells['E-mail'] = spellNoEmail(pick);
    return truth('unparsed_email', 'email', '');
  }
  if (shape === 'role_mailbox') {
    cells.Name = '';
    cells['E-mail'] = spellEmail(stranger.roleMailbox, pick);
    return truth('miss_role_mailbox', 'email', stranger.roleMailbox);
  }
  const need = weighted(pick, style === 'plain' ? plainNeeds : messyNeeds);
  const code = must(codesOfNeed[need][0], 'a code');
  const kind = shownKind(code);
  if (kind === 'phone') cells.Country = stranger.country;
  const value = stranger[strangerFields[kind]];
  fillIdentifier(cells, { kind: code, value }, style, pick);
  return truth('miss', kind, value);
}

const strangerFields = {
  professional_network: 'profile',
  email: 'email',
  phone: 'phone',
  twitter: 'twitter',
} as const;
