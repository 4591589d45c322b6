import { linkTo } from '../router.ts';
import { session } from '../session.ts';
import { Icon, type IconName } from './icon.tsx';

interface Step {
  title: string;
  about: string;
  icon: IconName;
  /** The permission that the key needs. */
  scope: string;
  action: string;
  path: string;
}

const steps: readonly Step[] = [
  {
    title: 'Bring your data',
    about:
      'Lists and searches match the records of your graph. Import a CRM export, a register or contacts first.',
    icon: 'data',
    scope: 'admin',
    action: 'Import files',
    path: '/data',
  },
  {
    title: 'Enrich a list',
    about:
      'Upload a CSV or Excel file of people or companies, such as samples/leads.csv of the project. Rows that match a record come back with emails, phones and jobs added.',
    icon: 'list',
    scope: 'batches',
    action: 'Upload a list',
    path: '/batches/new',
  },
  {
    title: 'Search for people',
    about: 'Find people by job, company and location. Counting them is free.',
    icon: 'search',
    scope: 'search',
    action: 'Build a search',
    path: '/search',
  },
  {
    title: 'Call the API',
    about: 'Create a key for your programs. A test key works on sample data and costs nothing.',
    icon: 'key',
    scope: 'account',
    action: 'Create a key',
    path: '/keys',
  },
];

/** Things to try first, of those that the key may do. */
export function FirstSteps() {
  const scopes = session.get()?.key.scopes ?? [];
  return (
    <ol class="first-steps">
      {steps
        .filter(({ scope }) => scopes.includes(scope))
        .map(({ title, about, icon, action, path }) => (
          <li key={path} class="card">
            <h2>
              <Icon name={icon} /> {title}
            </h2>
            <p>{about}</p>
            <a class="button secondary" href={linkTo(path)}>
              {action}
            </a>
          </li>
        ))}
    </ol>
  );
}
