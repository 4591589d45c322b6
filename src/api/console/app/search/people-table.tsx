import { useState } from 'preact/hooks';
import { Icon } from '../components/icon.tsx';
import { fieldGroups } from './person-fields.ts';

/** A person as the service answers it. */
export type Person = { id: number } & Record<string, unknown>;

const columns: readonly { header: string; cell(person: Person): string }[] = [
  { header: 'Position', cell: ({ position, positions }) => say(position) || say(positions) },
  {
    header: 'Company',
    cell: ({ company, currentCompanies }) => say(company) || say(currentCompanies),
  },
  { header: 'E-mail', cell: ({ workEmail, email }) => say(workEmail) || say(email) },
  { header: 'Phone', cell: ({ mobile, phone }) => say(mobile) || say(phone) },
  { header: 'Place', cell: ({ locality, cities }) => say(locality) || say(cities) },
];

/** People with the columns that are looked at first; each opens into the whole record. */
export function PeopleTable({ people }: { people: readonly Person[] }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const toggle = (id: number) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="table people" aria-label="People" tabIndex={0}>
      <table>
        <caption class="unseen">People. Each name opens the whole record.</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {columns.map(({ header }) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <PersonRows
              key={person.id}
              person={person}
              isOpen={open.has(person.id)}
              onToggle={() => toggle(person.id)}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface PersonRowsProps {
  person: Person;
  isOpen: boolean;
  onToggle: () => void;
}

function PersonRows({ person, isOpen, onToggle }: PersonRowsProps) {
  const name = [say(person.name), say(person.surname)].filter(Boolean).join(' ') || `#${person.id}`;
  return (
    <>
      <tr>
        <th scope="row">
          <button
            type="button"
            class="disclosure"
            aria-expanded={isOpen}
            aria-controls={`record-${person.id}`}
            onClick={onToggle}
          >
            <Icon name="next" />
            {name}
          </button>
        </th>
        {columns.map(({ header, cell }) => (
          <td key={header}>
            <span class="cell">{cell(person)}</span>
          </td>
        ))}
      </tr>
      <tr id={`record-${person.id}`} class="record-row" hidden={!isOpen}>
        <td class="record-cell" colSpan={columns.length + 1}>
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
