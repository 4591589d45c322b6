/**
 * Decides which records are the same person or company: a pure function of the records, so any order of the same
 * imports gives the same groups.
 *
 * - An equal registry number joins companies, but of several entities of `gleif` none; of a country with many registers when
 * their
 *   names are equal too. A domain or a profile URL does when no source has two companies of different names with it and
 *   its holders have at most one registry number.
 * - A profile URL or an email joins people when no source has two people of different names with it and each two of
 *   its holders may be one person.
 * - The key of another record of the same source, which a record says that it is.
 * - Records that would join in one group two registry numbers, two entities of `gleif`, two people who contradict each other, two
 *   records of one's own or more than a hundred of one person are joined by registry number and by the key of their source alone.
 */
import { normaliseCompanyName } from '../../identifiers/company-name.ts';
import { hasPagesOfOthers } from '../../identifiers/other-networks.ts';
import { isOfManyRegisters } from '../../identifiers/registry-number.ts';
import { fold } from '../../lib/fold.ts';
import { mayBeOnePerson, type PersonOfRecord } from './like-people.ts';

/** One record that shares a value with another one. */
export interface Member extends PersonOfRecord {
  number: number;
  source: string;
  /** Its present id, if it has one. */
  id: number;
}

/** The source of records that are imported with ids of one's own. */
export const OWN_SOURCE = 'own';
/** The source of legal entities, GLEIF, of which several may have one registry number. */
export const LEI_SOURCE = 'gleif';

/** Returns the groups, each in the order of the numbers, in the order of their first number. */
export function partition(members: readonly Member[], isPerson: boolean): Member[][] {
  const holders = holdersOf(members);
  const sure = [...holders]
    .map(([key, held]): Holders => [key, key.startsWith(REGISTRY) ? withoutEntities(held) : held])
    .filter(([key, held]) => isSure(key, held, isPerson));
  const groups = join(members, sure);
  const surest = new Map(sure.filter(([key]) => key.startsWith(isPerson ? KEY : REGISTRY)));
  return groups
    .flatMap((group) => {
      if (!isContradictory(group, isPerson)) return [group];
      const keys = new Set(group.flatMap((member) => member.keys));
      return join(
        group,
        [...keys].map((key): Holders => [key, surest.get(key) ?? []]),
      );
    })
    .flatMap((group) =>
      isContradictory(group, isPerson) ? group.map((member) => [member]) : [group],
    )
    .sort((a, b) => (a[0]?.number ?? 0) - (b[0]?.number ?? 0));
}

const REGISTRY = 'registry:';
const KEY = 'key:';
const DOMAIN = 'domain:';

type Holders = readonly [key: string, held: Member[]];

function holdersOf(members: readonly Member[]): Map<string, Member[]> {
  const holders = new Map<string, Member[]>();
  for (const member of members) {
    for (const key of member.keys) {
      const held = holders.get(key);
      if (held === undefined) holders.set(key, [member]);
      else held.push(member);
    }
  }
  return holders;
}

function isSure(key: string, held: readonly Member[], isPerson: boolean): boolean {
  if (held.length < 2) return false;
  if (key.startsWith(KEY)) return true;
  if (key.startsWith(REGISTRY)) {
    return !isOfManyRegisters(key.slice(REGISTRY.length)) || haveOneName(held);
  }
  // Many write the page that they have on a network as their site.
  if (key.startsWith(DOMAIN) && hasPagesOfOthers(key.slice(DOMAIN.length))) return false;
  if (hasOneSourceTwice(held)) return false;
  return isPerson ? mayBeOne(held) : registryNumbers(held).size < 2;
}

/** An LEI is of one legal entity (ISO 17442). Its number in a register may be that of a fund's umbrella, or of another court. */
function areEntities(members: readonly Member[]): boolean {
  return members.filter(({ source }) => source === LEI_SOURCE).length > 1;
}

/**
 * Returns the holders of a number without the legal entities, if these are several: it is not known which of them the others are.
 */
function withoutEntities(held: Member[]): Member[] {
  return areEntities(held) ? held.filter(({ source }) => source !== LEI_SOURCE) : held;
}

function haveOneName(members: readonly Member[]): boolean {
  const names = members.map(({ name }) => {
    const folded = normaliseCompanyName(name);
    return 'values' in folded ? folded.values[0] : null;
  });
  return names.every((name) => name !== null && name === names[0]);
}

/** Records of one person. More, such as a chain of addresses in a hostile file, are not compared each with each. */
const PERSON_RECORDS_MAX = 100;

function mayBeOne(members: readonly Member[]): boolean {
  if (members.length > PERSON_RECORDS_MAX) return false;
  return members.every((one, index) =>
    members.slice(index + 1).every((other) => mayBeOnePerson(one, other)),
  );
}

/** Returns true when a source has two records with different names among these. */
function hasOneSourceTwice(members: readonly Member[]): boolean {
  const names = new Map<string, string>();
  return members.some(({ source, name, surname }) => {
    const folded = fold(`${name} ${surname}`).trim();
    const before = names.get(source);
    names.set(source, folded);
    return before !== undefined && (before !== folded || folded === '');
  });
}

function registryNumbers(members: readonly Member[]): Set<string> {
  return new Set(members.flatMap(({ keys }) => keys.filter((key) => key.startsWith(REGISTRY))));
}

function isContradictory(group: readonly Member[], isPerson: boolean): boolean {
  const own = group.filter(({ source }) => source === OWN_SOURCE);
  if (own.length > 1) return true;
  return isPerson ? !mayBeOne(group) : registryNumbers(group).size > 1 || areEntities(group);
}

/** Union-find over the members, joined by the holders of each key. */
function join(members: readonly Member[], keys: readonly Holders[]): Member[][] {
  const parent = new Map(members.map((member) => [member, member]));
  const rootOf = (member: Member): Member => {
    let root = member;
    for (
      let next = parent.get(root);
      next !== undefined && next !== root;
      next = parent.get(root)
    ) {
      root = next;
    }
    parent.set(member, root);
    return root;
  };
  for (const [, [first, ...others]] of keys) {
    if (first === undefined) continue;
    for (const other of others) parent.set(rootOf(other), rootOf(first));
  }
  const groups = new Map<Member, Member[]>();
  for (const member of [...members].sort((a, b) => a.number - b.number)) {
    const root = rootOf(member);
    const group = groups.get(root);
    if (group === undefined) groups.set(root, [member]);
    else group.push(member);
  }
  return [...groups.values()];
}
