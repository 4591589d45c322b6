/** Returns true for words that one slip of the keyboard separates: a letter added, lost or replaced, or two swapped. */
export function isOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false;
  let from = 0;
  while (from < a.length && a.charCodeAt(from) === b.charCodeAt(from)) from += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > from && endB > from && a.charCodeAt(endA - 1) === b.charCodeAt(endB - 1)) {
    endA -= 1;
    endB -= 1;
  }
  const restA = endA - from;
  const restB = endB - from;
  if (restA <= 1 && restB <= 1) return true;
  return restA === 2 && restB === 2 && a[from] === b[from + 1] && a[from + 1] === b[from];
}
