import { useState } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { fieldGroups } from './person-fields.ts';

/** A person as the service answers it; a file may leave any field out. */
export type Person = Readonly<Record<string, unknown>>;

const columns: readonly { header: string; cell(person: Person): string }[] = [
  { header: 'Job title', cell: ({ position, positions }) => say(position) || say(positions) },
  {
    header: 'Company',
    cell: ({ company, currentCompanies }) => say(company) || say(currentCompanies),
  },
  { header: 'Email', cell: ({ workEmail, email }) => say(workEmail) || say(email) },
  { header: 'Phone', cell: ({ mobile, phone }) => say(mobile) || say(phone) },
  { header: 'Location', cell: ({ locality, cities }) => say(locality) || say(cities) },
];

/** People with the columns that are looked at first; each opens into the whole record. */
export function PeopleTable({ people }: { people: readonly Person[] }) {
  const shown = columns.filter(({ cell }) => people.some((person) => cell(person) !== ''));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table people" aria-label="People, one row each" tabIndex={0}>
      <table>
        <caption class="unseen">People. Each name opens the whole record.</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {shown.map(({ header }) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {people.map((person, place) => (
            <PersonRows
              key={person.id ?? place}
              person={person}
              number={place + 1}
              cells={shown.map(({ cell }) => cell(person))}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PersonRowsProps {
  person: Person;
  number: number;
  cells: readonly string[];
}

function PersonRows({ person, number, cells }: PersonRowsProps) {
  const [isOpen, setIsOpen] = useState(false);
  const name = [say(person.name), say(person.surname)].filter(Boolean).join(' ');
  return (
    <>
      <tr>
        <th scope="row">
          <button
            type="button"
            class="disclosure"
            aria-expanded={isOpen}
            aria-controls={`record-${number}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            <Icon name="next" />
            {name || `Person ${number}`}
          </button>
        </th>
        {cells.map((cell, place) => (
          <td key={columns[place]?.header}>
            <span class="cell">{cell}</span>
          </td>
        ))}
      </tr>
      <tr id={`record-${number}`} class="record-row" hidden={!isOpen}>
        <td class="record-cell" colSpan={cells.length + 1}>
          {isOpen && <Record person={person} />}
        </td>
      </tr>
    </>
  );
}

/** Everything that a record holds, in groups. */
function Record({ person }: { person: Person }) {
  return (
    <div class="record">
      {fieldGroups.map(({ label, fields }) => {
        const known = Object.entries(fields).flatMap(([name, field]) => {
          const value = say(person[name]);
          return value === '' ? [] : [{ name, field, value }];
        });
        if (known.length === 0) return null;
        return (
          <div key={label}>
            <h3>{label}</h3>
            <dl>
              {known.map(({ name, field, value }) => (
                <div key={name}>
                  <dt>{field}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </div>
        );
      })}
    </div>
  );
}

/** A value in words; empty for what is not known. */
function say(value: unknown): string {
  if (value === null || value === undefined || value === '' || value === 0) return '';
  if (Array.isArray(value)) return value.map(say).filter(Boolean).join(', ');
  if (typeof value === 'object') return say((value as { name?: unknown }).name);
  return String(value);
}
