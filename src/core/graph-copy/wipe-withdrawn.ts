/** Removes the people who withdrew from a copy that is in use. */
import { type Database, inTransaction } from '../db/client.ts';
import { listChangedCompanies, listWithdrawn, lockBuild } from './copy.sql.ts';
import { placeOf } from './copy-folder.ts';
import { layersOf, type Manifest, readManifestText } from './manifest.ts';
import { wipeRecords } from './wipe-records.ts';

interface WipedCopy {
  text: string;
  manifest: Manifest;
  /** The state of the graph up to which it has no person who withdrew. */
  wipedTo: number;
  /** By folders of layers, the states up to which companies that changed are overwritten there; is kept up to date. */
  companiesTo: Map<string, number>;
}

/**
 * Overwrites the people who withdrew since, and returns the state up to which the copy has none of them: the same as before
 * while another process writes to the folder, or when the copy was replaced. Throws as `wipeRecords`.
 */
export function wipeWithdrawn(
  sql: Database,
  folder: string,
  { text, manifest, wipedTo, companiesTo }: WipedCopy,
): Promise<number> {
  return inTransaction(sql, async (tx) => {
    if (!(await lockBuild(tx, await placeOf(folder)))) return wipedTo;
    if ((await readManifestText(folder)) !== text) return wipedTo;
    const { people, reached } = await listWithdrawn(tx, wipedTo);
    if (people.length === 0) return reached;
    await wipeRecords(folder, manifest, async (layer) => ({
      people,
      // A quarter of the graph may have changed: each is read once.
      companies: await listChangedCompanies(tx, companiesTo.get(layer.folder) ?? layer.number),
    }));
    companiesTo.clear();
    for (const layer of layersOf(manifest)) companiesTo.set(layer.folder, reached);
    return reached;
  });
}
