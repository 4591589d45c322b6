/** The list of test mode: made-up identifiers of which each has one outcome. */
import { Button } from '../components/button.tsx';
import { columnKinds } from '../words.ts';
import type { Operation } from './operations.ts';

const words = ['matched', 'no-match', 'ambiguous', 'suppressed'];

interface TestListProps {
  operation: Operation;
  onFile: (file: File) => void;
}

export function TestList({ operation, onFile }: TestListProps) {
  const kind = operation.identifiers.includes('email') ? 'email' : 'domain';
  const identifiers = words.map((word) => `${word}${kind === 'email' ? '@' : '-'}test.example`);
  const text = `${[columnKinds[kind], ...identifiers].join('\n')}\n`;
  return (
    <div class="notice">
      <div>
        <p>
          Test mode knows made-up people and companies only. These have one outcome each:{' '}
          {identifiers.join(', ')}.
        </p>
        <Button onClick={() => onFile(new File([text], 'Test list.csv', { type: 'text/csv' }))}>
          Use our test list
        </Button>
      </div>
    </div>
  );
}
