/** Loaded into a worker before its own code: shifts its clock by `CHAOS_CLOCK_SHIFT_MS`. */
const shiftMs = Number(process.env.CHAOS_CLOCK_SHIFT_MS ?? 0);
const now = Date.now.bind(Date);

const ShiftedDate = new Proxy(Date, {
  construct: (target, words: [] | [number], newTarget) =>
    Reflect.construct(target, words.length === 0 ? [now() + shiftMs] : words, newTarget) as Date,
});
ShiftedDate.now = () => now() + shiftMs;
globalThis.Date = ShiftedDate;
