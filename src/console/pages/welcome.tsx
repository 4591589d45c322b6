import { FirstSteps } from '../components/first-steps.tsx';
import { PageHeader } from '../components/page-header.tsx';

/** The first page of a newcomer. */
export function WelcomePage() {
  return (
    <>
      <PageHeader
        title="Welcome"
        about="Three things to try. You see each price before anything is charged."
      />
      <FirstSteps />
    </>
  );
}
