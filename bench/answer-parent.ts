/** The other end of `startServant`: a process that answers its parent's questions, one at a time. */

/** What travels back: the answer, or why there is none. */
export type Reply<Answer> = { answer: Answer } | { error: string };

/** Answers every message of the parent; ends with it. */
export function answerParent<Question, Answer>(
  answer: (question: Question) => Promise<Answer>,
): void {
  process.on('message', (question: Question) => {
    answer(question).then(
      (found) => process.send?.({ answer: found } satisfies Reply<Answer>),
      (error) => process.send?.({ error: String(error) } satisfies Reply<Answer>),
    );
  });
  process.once('disconnect', () => process.exit(0));
}
