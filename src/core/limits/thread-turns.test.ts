import { test } from 'vitest';
import { nextQuietRound, noteConnection } from './thread-turns.ts';

test('a piece is read also while connections arrive without end', async () => {
  let isOver = false;
  const arrive = () => {
    noteConnection();
    if (!isOver) setImmediate(arrive);
  };
  arrive();
  await nextQuietRound();
  isOver = true;
});
