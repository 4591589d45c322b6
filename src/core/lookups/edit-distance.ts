/**
 * Returns the number of typos between two words: an inserted, missing or replaced letter, or two neighbours
 * swapped (optimal string alignment distance). Stops counting above `max` and returns `max + 1`.
 */
export function editDistance(left: string, right: string, max: number): number {
  const a = [...left];
  const b = [...right];
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let steps = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (row > 1 && column > 1 && swapped) {
        steps = Math.min(steps, (beforeLast[column - 2] ?? 0) + 1);
      }
      current.push(steps);
    }
    if (Math.min(...current) > max) return max + 1;
    beforeLast = last;
    last = current;
  }
  return Math.min(last[b.length] ?? 0, max + 1);
}
