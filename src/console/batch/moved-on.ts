import { announce } from '../components/announcer.tsx';
import { asProblem } from '../problem.ts';

/**
 * Waits for an action. Refused because another tab, or another user, has moved the item on, it
 * says so and reads the item anew, also when the page has left the button behind meanwhile. Throws
 * what the action throws.
 */
export async function tellMovedOn<Answer>(
  { reload }: { reload: () => void },
  acting: Promise<Answer>,
): Promise<Answer> {
  try {
    return await acting;
  } catch (error) {
    if (asProblem(error).code === 'invalid_state') {
      announce('This has changed meanwhile. The page now shows the current state.');
      reload();
    }
    throw error;
  }
}
