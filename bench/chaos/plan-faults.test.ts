import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planFaults } from './plan-faults.ts';
import { Random } from './random.ts';

const stack = {
  apis: 2,
  workers: 3,
  lines: ['api-postgres', 'worker-postgres', 'redis', 's3'],
  hasRedis: true,
  canFillStorage: true,
};
const plan = (seed: number, minutes: number) =>
  planFaults(new Random(seed).fork('faults'), stack, minutes * 60_000);

test('a seed always plans the same faults, and another seed others', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      expect(plan(seed, 1)).toEqual(plan(seed, 1));
      expect(plan(seed, 1)).not.toEqual(plan(seed + 1, 1));
    }),
  );
});

test('every kind of fault occurs within two minutes for any seed, all within the time', () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const faults = plan(seed, 2);
      expect(new Set(faults.map(({ fault }) => fault.kind))).toEqual(
        new Set([
          ...['kill', 'terminate', 'freeze', 'shift-clock', 'restart-postgres', 'restart-redis'],
          ...['lose-queue', 'network', 'fill-storage'],
        ]),
      );
      expect(faults.every(({ atMs }) => atMs < 120_000)).toBe(true);
    }),
  );
});

test('a fork draws the same values whatever its siblings draw', () => {
  const draw = (others: number) => {
    const random = new Random(7);
    const own = random.fork('own');
    const other = random.fork('other');
    for (let time = 0; time < others; time++) other.next();
    return [own.next(), own.between(1, 6), own.pick(['a', 'b', 'c'])];
  };
  expect(draw(0)).toEqual(draw(100));
});
