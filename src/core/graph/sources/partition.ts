/**
 * Decides which records are the same person or company: a pure function of the records, so any order of the same
 * imports gives the same groups.
 *
 * - An equal registry number joins companies. A domain or a profile URL does when no source has two companies of
 *   different names with it and its holders have at most one registry number.
 * - A profile URL or an e-mail joins people when no source has two people of different names with it and all names
 *   share a word.
 * - The key of another record of the same source, which a record says that it is.
 * - Records that would join two registry numbers or two records of one's own in one group are joined by registry
 *   number alone.
 */
import { fold } from '../../lib/fold.ts';

/** One record that shares a value with another one. */
export interface Member {
  number: number;
  source: string;
  /** Its present id, if it has one. */
  id: number;
  keys: readonly string[];
  /** The name; with the surname of a person. */
  name: string;
}

/** The source of records that are imported with ids of one's own. */
export const OWN_SOURCE = 'own';

/** Returns the groups, each in the order of the numbers, in the order of their first number. */
export function partition(members: readonly Member[], isPerson: boolean): Member[][] {
  const holders = holdersOf(members);
  const sure = [...holders].filter(([key, held]) => isSure(key, held, isPerson));
  const groups = join(members, sure);
  return groups
    .flatMap((group) => {
      if (!isContradictory(group)) return [group];
      const registry = sure.filter(([key]) => key.startsWith(REGISTRY));
      return join(
        group,
        [...registry].map(([key, held]) => [key, held.filter((m) => group.includes(m))]),
      );
    })
    .flatMap((group) => (isContradictory(group) ? group.map((member) => [member]) : [group]))
    .sort((a, b) => (a[0]?.number ?? 0) - (b[0]?.number ?? 0));
}

const REGISTRY = 'registry:';
const KEY = 'key:';

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
  if (key.startsWith(REGISTRY) || key.startsWith(KEY)) return true;
  if (hasOneSourceTwice(held)) return false;
  return isPerson ? haveLikeNames(held) : registryNumbers(held).size < 2;
}

/** Returns true when a source has two records with different names among these. */
function hasOneSourceTwice(members: readonly Member[]): boolean {
  const names = new Map<string, string>();
  return members.some(({ source, name }) => {
    const folded = fold(name);
    const before = names.get(source);
    names.set(source, folded);
    return before !== undefined && (before !== folded || folded === '');
  });
}

function registryNumbers(members: readonly Member[]): Set<string> {
  return new Set(members.flatMap(({ keys }) => keys.filter((key) => key.startsWith(REGISTRY))));
}

/** Returns true when each two names have a word in common; a missing name contradicts none. */
function haveLikeNames(members: readonly Member[]): boolean {
  const words = members
    .map(({ name }) => new Set(fold(name).match(/[\p{L}\p{N}]{2,}/gu) ?? []))
    .filter((set) => set.size > 0);
  return words.every((one, index) =>
    words.slice(index + 1).every((other) => [...one].some((word) => other.has(word))),
  );
}

function isContradictory(group: readonly Member[]): boolean {
  const own = group.filter(({ source }) => source === OWN_SOURCE);
  return own.length > 1 || registryNumbers(group).size > 1;
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
    groups.set(root, [...(groups.get(root) ?? []), member]);
  }
  return [...groups.values()];
}
