import { type Answer, recordCellAt } from './answer.ts';

/** Returns the ids of the people in an answer: the person, or a company's directors who are stored people. */
export function peopleOfAnswer(answer: Answer): number[] {
  if (answer.person !== null) return [Number(recordCellAt(answer.person, 0))];
  const directors = JSON.parse(answer.directors ?? '[]') as { person_id: number | null }[];
  return directors.flatMap(({ person_id: id }) => (id === null ? [] : [id]));
}
