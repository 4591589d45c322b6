import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { linkTo } from '../router.ts';
import { sayCron } from '../schedules/cron-times.ts';
import { EnabledSwitch } from '../schedules/enabled-switch.tsx';
import { modes, type Schedule } from '../schedules/schedule-words.ts';
import { ZoneTime } from '../schedules/zone-time.tsx';
import { zoneLabel } from '../schedules/zones.ts';
import { useList } from '../use-call.ts';

const searchLink = (
  <a class="button primary" href={linkTo('/search')}>
    Build a search
  </a>
);

/** The schedules of the account, newest first. */
export function SchedulesPage() {
  const schedules = useList<Schedule>('/v1/schedules');
  const { items } = schedules;
  return (
    <>
      <PageHeader
        title="Schedules"
        about="Searches that run automatically. Each run that finds someone creates a file."
        actions={items?.length === 0 ? null : searchLink}
      />
      <ProblemNotice problem={schedules.problem} onRetry={schedules.reload} />
      {items === undefined && schedules.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No schedules yet" action={searchLink}>
          Build a search and save it as a schedule: every night, every Monday, whenever you like. A
          schedule can deliver new people only, so that you pay for each person once.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && <ScheduleTable schedules={items} />}
      {schedules.hasMore && (
        <div class="more">
          <Button isBusy={schedules.isLoading} onClick={schedules.loadMore}>
            Show older schedules
          </Button>
        </div>
      )}
    </>
  );
}

function ScheduleTable({ schedules }: { schedules: Schedule[] }) {
  // As they were changed here.
  const [changed, setChanged] = useState<ReadonlyMap<string, Schedule>>(new Map());
  return (
    <Table
      caption="Schedules, newest first"
      rows={schedules.map((schedule) => changed.get(schedule.id) ?? schedule)}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        {
          header: 'Schedule',
          cell: ({ id, name }) => <a href={linkTo(`/schedules/${id}`)}>{name}</a>,
        },
        {
          header: 'On',
          cell: (schedule) => (
            <EnabledSwitch
              schedule={schedule}
              onChange={(now) => setChanged((before) => new Map(before).set(now.id, now))}
            />
          ),
        },
        {
          header: 'Runs',
          cell: ({ cron, time_zone }) => (
            <span class="zone-time">
              <span>{sayCron(cron)}</span>
              <small class="soft">{zoneLabel(time_zone)}</small>
            </span>
          ),
        },
        {
          header: 'Next run',
          cell: ({ next_run_at, time_zone }) =>
            next_run_at === null ? (
              <span class="soft">Turned off</span>
            ) : (
              <ZoneTime iso={next_run_at} zone={time_zone} />
            ),
        },
        {
          header: 'Includes',
          cell: ({ mode }) => modes.find(({ value }) => value === mode)?.label,
        },
      ]}
    />
  );
}
