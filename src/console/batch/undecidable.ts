import { subjectOf } from './operations.ts';

/** Why rows that are ambiguous by an identifier cannot be decided, and what to do with them; for a list of this operation. */
export function sayUndecidable(operation: string): string {
  const [several, another] =
    subjectOf(operation) === 'person'
      ? ['people', 'an email or a profile URL']
      : ['companies', 'a domain or a registry number'];
  return `The email, phone or other identifier of an ambiguous row belongs to several ${several}, so there is no record to choose. These rows are free. To match them, add another identifier to them, such as ${another}, and upload them as a new list.`;
}
