/** Copies numbers to the beginning of a longer array, which is returned. */
export function copyInto<Numbers extends Int32Array | Uint8Array | Float64Array>(
  wider: Numbers,
  numbers: Numbers,
): Numbers {
  wider.set(numbers);
  return wider;
}
