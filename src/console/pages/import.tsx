import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { Fact } from '../components/fact.tsx';
import { fromHere } from '../components/lead-on.ts';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { CountsList } from '../data/counts-list.tsx';
import {
  buildProblemOf,
  type ImportRun,
  nameOfFiles,
  type ShownImport,
  sourceLabel,
  stateOfImport,
} from '../data/import-run.ts';
import { RejectsLink } from '../data/rejected-rows.tsx';
import { countOf, formatTime } from '../format.ts';
import { asProblem, pageProblem } from '../problem.ts';
import { linkTo } from '../router.ts';
import { useAction, useResource } from '../use-call.ts';
import type { PageProps } from './page.ts';

/** One import of the history, and its undoing. */
export function ImportPage({ params }: PageProps) {
  const path = `/admin/imports/${params.id}`;
  const { data, problem, reload } = useResource<ShownImport>(path);
  return (
    <>
      <PageHeader
        title={data ? `Import of ${nameOfFiles(data.files) ?? data.source}` : 'Import'}
        back={{ href: linkTo('/data'), label: 'Data' }}
        about={data && <Badge tone={stateOfImport(data).tone}>{stateOfImport(data).label}</Badge>}
      />
      <ProblemNotice problem={problem} onRetry={reload} />
      {data === undefined && problem === null && <Loading />}
      {data && (
        <div class="stack">
          <section class="card stack" aria-label="Import">
            <dl class="facts">
              <Fact name="Number">{data.id}</Fact>
              <Fact name="Source">{sourceLabel(data.source)}</Fact>
              <Fact name="Data of">{data.as_of}</Fact>
              <Fact name="Imported">{formatTime(data.started_at)}</Fact>
              <Fact name="Files">{data.files.join(', ')}</Fact>
            </dl>
            {data.problem !== null && <p class="notice bad">{buildProblemOf(data)}</p>}
            <CountsList counts={data} />
            {data.rejected > 0 && data.run_id !== null && (
              <p>
                <RejectsLink of={data}>Download rejected rows with line and reason</RejectsLink>
              </p>
            )}
          </section>
          {data.undo !== null && <Undo of={data} path={path} undo={data.undo} onRefused={reload} />}
        </div>
      )}
    </>
  );
}

interface UndoProps {
  of: Pick<ShownImport, 'id' | 'files'>;
  path: string;
  undo: NonNullable<ShownImport['undo']>;
  onRefused: () => void;
}

const BUILT_ON =
  'A later import now builds on it. Nothing was undone yet: check what goes, and confirm.';

function Undo({ of: { id, files }, path, undo, onRefused }: UndoProps) {
  const [isAsking, setIsAsking] = useState(false);
  const undoing = useAction(async () => {
    const leadOn = fromHere();
    // The consequences may have changed, as by an import that builds on it since.
    const run = await call<ImportRun>('POST', `${path}/undo`, {
      body: { with: undo.later },
    }).catch((error) => {
      onRefused();
      const isBuiltOn = asProblem(error).code === 'import_built_on';
      throw isBuiltOn ? pageProblem('import_built_on', BUILT_ON) : error;
    });
    leadOn(`/data/runs/${run.id}`, 'Undoing the import has begun.');
  });
  return (
    <section class="card stack" aria-label="Undo">
      <h2>Undo this import</h2>
      <Consequences undo={undo} />
      <div>
        <Button kind="danger" onClick={() => setIsAsking(true)}>
          Undo the import
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={`Undo the import of ${nameOfFiles(files) ?? id}?`}
          confirm={undo.later.length === 0 ? 'Undo it' : `Undo ${undo.later.length + 1} imports`}
          action={undoing}
          onClose={() => {
            setIsAsking(false);
            undoing.clear();
          }}
        >
          <Consequences undo={undo} />
        </ConfirmDialog>
      )}
    </section>
  );
}

function Consequences({ undo }: Pick<UndoProps, 'undo'>) {
  const { later, restored, ended, without_company: without } = undo;
  return (
    <>
      <p>
        Removes {countOf(ended, 'record')} that it added and restores {countOf(restored, 'record')}{' '}
        that it changed. Opt-outs stay.
      </p>
      {without !== 0 && (
        <p class="notice warn">
          {without === null
            ? 'Records of other imports that refer to its companies lose them until they are imported again.'
            : `${countOf(without, 'record')} of other imports ${without === 1 ? 'loses its' : 'lose their'} company until it is imported again.`}
        </p>
      )}
      {later.length > 0 && (
        <p class="notice warn">
          <span>
            {countOf(later.length, 'later import')} {later.length === 1 ? 'builds' : 'build'} on it
            and {later.length === 1 ? 'is' : 'are'} undone too:{' '}
            {later.map((id, place) => (
              <>
                {place > 0 && ', '}
                <a href={linkTo(`/data/imports/${id}`)}>import {id}</a>
              </>
            ))}
            .
          </span>
        </p>
      )}
    </>
  );
}
