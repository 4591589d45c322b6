import { call } from '../api.ts';
import { announceEarlier } from '../components/announcer.tsx';
import { fromHere } from '../components/lead-on.ts';
import type { ExportFile } from './export-file.ts';

/** Creates an export and opens it; `wanted` is the user's part of the request. */
export async function createExport(body: object, wanted: string): Promise<void> {
  const leadOn = fromHere();
  let isEarlier = false;
  const { id, created_at } = await call<ExportFile>('POST', '/v1/exports', {
    body,
    wanted,
    onRepeated: () => {
      isEarlier = true;
    },
  });
  leadOn(`/exports/${id}`, 'The export was created.');
  if (isEarlier) announceEarlier('export', 'created', created_at);
}
