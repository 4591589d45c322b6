/** Returns the value under which records with this identifier of a person are compared; null for a kind that is not. */
export function personKeyOf({ kind, value }: { kind: string; value: string }): string | null {
  const name = personKeyNames.get(kind);
  return name === undefined ? null : `${name}:${value}`;
}

const personKeyNames: ReadonlyMap<string, string> = new Map([
  ['email', 'email'],
  ['professional_network', 'profile'],
]);
