/** The notice that the columns of given and family names are swapped. */
import { Button } from '../components/button.tsx';
import type { Batch } from './batch.ts';

export function SwappedNames({ batch, onSwap }: { batch: Batch; onSwap: () => void }) {
  if (!batch.dialect.doubts.includes('names')) return null;
  return (
    <div class="notice warn">
      <div>
        <p>
          Most rows have the family name in the column of given names. They still match, but check
          your columns.
        </p>
        <Button onClick={onSwap}>Swap the two columns</Button>
      </div>
    </div>
  );
}
