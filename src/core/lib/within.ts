/** The answer did not come in time. */
export class Late extends Error {
  override readonly name = 'Late';
}

/**
 * Returns the answer. Rejects with `Late` when it does not come within `ms` milliseconds; the work behind it goes on,
 * unnoticed.
 */
export async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Late(`no response within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
