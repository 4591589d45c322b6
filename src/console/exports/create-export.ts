import { call } from '../api.ts';
import { makeAndOpen } from '../components/lead-on.ts';
import type { ExportFile } from './export-file.ts';

/** Creates an export and opens it; `wanted` is the user's part of the request. */
export function createExport(body: object, wanted: string): Promise<void> {
  return makeAndOpen('export', 'created', async (onRepeated) => {
    const options = { body, wanted, onRepeated };
    const { id, created_at: at } = await call<ExportFile>('POST', '/v1/exports', options);
    return { path: `/exports/${id}`, at };
  });
}
