/** The processors that this process may use. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';

/**
 * Returns the number of processors that the process may keep busy: those of its affinity, or fewer by the quotas of its
 * control group and of those above it, which a container or a unit of systemd sets and Node 20 does not see. Quotas round
 * up; at least 1. `root` is the root of the file system. Only version 2 of control groups is read
 * (https://docs.kernel.org/admin-guide/cgroup-v2.html, `cpu.max`).
 */
export function availableCores(cores = availableParallelism(), root = '/'): number {
  const quotas = controlGroups(root).map((folder) => quotaOf(path.join(folder, 'cpu.max')));
  return Math.max(1, Math.min(cores, ...quotas.map(Math.ceil)));
}

/** The folders of the control group of this process, and of those above it. */
function controlGroups(root: string): string[] {
  const mount = path.join(root, 'sys/fs/cgroup');
  const [, own = '/'] = /^0::(\/.*)$/m.exec(read(path.join(root, 'proc/self/cgroup'))) ?? [];
  const folders: string[] = [];
  for (let group = own; ; group = path.dirname(group)) {
    folders.push(path.join(mount, group));
    if (group === '/') return folders;
  }
}

/** Processors that a quota allows: microseconds in each period. `Infinity` for `max` and without a file. */
function quotaOf(file: string): number {
  const [, quota, period] = /^(\d+) (\d+)$/m.exec(read(file)) ?? [];
  return quota === undefined ? Number.POSITIVE_INFINITY : Number(quota) / Number(period);
}

/** Returns '' for a file that cannot be read, as on systems without control groups. */
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
