/** The child side of `startServant`: a process that answers its parent's requests, one at a time. */

/** The reply: the answer or an error. */
export type Reply<Answer> = { answer: Answer } | { error: string };

/** Answers every message of the parent; exits with it. */
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
