/** The countries of the world by their English names, which a filter understands as well as codes. */
import type { Option } from '../components/combobox.tsx';

/** Codes that Unicode names and that are no country's. */
const others = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** Two-letter codes and names, by name. */
export const countries: readonly { code: string; name: string }[] = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => !others.has(code) && isCurrent(code))
  .flatMap((code) => {
    const name = names.of(code);
    return name === undefined ? [] : [{ code, name }];
  })
  .sort((one, other) => (one.name < other.name ? -1 : 1));

/** False for the code of a country that has another one today, such as DY for Benin. */
function isCurrent(code: string): boolean {
  return Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
}

const SHOWN = 8;

/** Countries that begin with a text, then those that have a word that does; also by their code. */
export function suggestCountries(text: string): Option[] {
  const sought = fold(text.trim());
  const ranked = countries.flatMap(({ code, name }) => {
    const folded = fold(name);
    const at = sought === fold(code) ? 0 : ` ${folded}`.indexOf(` ${sought}`);
    return at === -1
      ? []
      : [{ rank: at === 0 ? 0 : 1, value: `:${name}`, label: name, note: code }];
  });
  return ranked.sort((one, other) => one.rank - other.rank).slice(0, SHOWN);
}

function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
