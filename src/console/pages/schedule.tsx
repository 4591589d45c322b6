import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { fromHere } from '../components/lead-on.ts';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { linkTo } from '../router.ts';
import { RunNow } from '../schedules/run-now.tsx';
import { ScheduleForm } from '../schedules/schedule-form.tsx';
import { ScheduleRuns } from '../schedules/schedule-runs.tsx';
import { ScheduleSource } from '../schedules/schedule-source.tsx';
import { ScheduleWhen } from '../schedules/schedule-when.tsx';
import type { Schedule } from '../schedules/schedule-words.ts';
import { useAction, useResource } from '../use-call.ts';
import { changedParts } from '../use-changes.ts';
import type { PageProps } from './page.ts';

const back = { href: linkTo('/schedules'), label: 'Schedules' };

/** A schedule: when it runs, whom it means, what became of its runs. */
export function SchedulePage({ params: { id = '' } }: PageProps) {
  const path = `/v1/schedules/${id}`;
  const { data: schedule, problem, reload, replace } = useResource<Schedule>(path);
  const [isEdited, setIsEdited] = useState(false);
  if (problem?.status === 404) return <NotThere />;
  if (schedule === undefined) {
    return (
      <>
        <PageHeader title="Schedule" back={back} />
        {problem === null ? <Loading /> : <ProblemNotice problem={problem} onRetry={reload} />}
      </>
    );
  }
  const save = async (request: object) => {
    replace(await call<Schedule>('PATCH', path, { body: changedParts(schedule, request) }));
    setIsEdited(false);
    announce('The schedule was changed.');
  };
  const actions = isEdited ? null : (
    <>
      <RunNow schedule={schedule} reload={reload} />
      <Button onClick={() => setIsEdited(true)}>Edit</Button>
      <DeleteButton schedule={schedule} />
    </>
  );
  return (
    <>
      <PageHeader
        title={schedule.name}
        about={
          <Badge tone={schedule.enabled ? 'active' : 'neutral'}>
            {schedule.enabled ? 'On' : 'Off'}
          </Badge>
        }
        back={back}
        actions={actions}
      />
      <div class="stack">
        {isEdited ? (
          <ScheduleForm
            filter={schedule.filter}
            schedule={schedule}
            submit="Save the schedule"
            onSubmit={save}
            onLeave={() => setIsEdited(false)}
          />
        ) : (
          <ScheduleWhen schedule={schedule} onChange={replace} />
        )}
        <ScheduleSource schedule={schedule} />
        <ScheduleRuns schedule={schedule} />
      </div>
    </>
  );
}

function DeleteButton({ schedule: { id } }: { schedule: Schedule }) {
  const [isAsked, setIsAsked] = useState(false);
  const deleting = useAction(async () => {
    const leadOn = fromHere();
    await call('DELETE', `/v1/schedules/${id}`);
    leadOn('/schedules', 'The schedule was deleted.');
  });
  return (
    <>
      <Button kind="danger" onClick={() => setIsAsked(true)}>
        Delete
      </Button>
      {isAsked && (
        <ConfirmDialog
          title="Delete this schedule?"
          confirm="Delete the schedule"
          action={deleting}
          onClose={() => {
            setIsAsked(false);
            deleting.clear();
          }}
        >
          This deletes the schedule and its run history. Exports it created are kept.
        </ConfirmDialog>
      )}
    </>
  );
}

function NotThere() {
  return (
    <>
      <PageHeader title="Schedule not found" back={back} />
      <EmptyState title="The link may be wrong, or it may have been deleted">
        It may have been deleted, or belong to another account or to the other mode: live and test
        data are kept apart.
      </EmptyState>
    </>
  );
}
