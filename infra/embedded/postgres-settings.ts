/**
 * The server's settings for one machine that also runs the API and the workers. They are passed on the command
 * line, where they override every file: a change here takes effect at the next start.
 */
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { availableCores } from '../../src/core/lib/available-cores.ts';

const MiB = 1024 * 1024;

/** Below this, parallel queries could fill /dev/shm; container engines give 64 MiB by default. */
const SHARED_MEMORY_FOLDER_MIN = 512 * MiB;

/** The properties of a machine that settings depend on. */
interface Machine {
  memoryBytes: number;
  cpus: number;
  /** Free bytes of /dev/shm; null where there is none. */
  sharedMemoryFolderBytes: number | null;
}

/** Reads the machine's properties; memory and processors are the container's limits if there are any. */
export async function readMachine(): Promise<Machine> {
  const limit = process.constrainedMemory();
  const memory = totalmem();
  const shm = await statfs('/dev/shm').catch(() => null);
  return {
    memoryBytes: limit > 0 ? Math.min(memory, limit) : memory,
    cpus: availableCores(),
    sharedMemoryFolderBytes: shm === null ? null : shm.bavail * shm.bsize,
  };
}

/** Returns the default settings by name. fsync, synchronous_commit and full_page_writes stay on. */
export function defaultSettings(
  machine: Machine,
  build: { hasLz4: boolean },
): Record<string, string> {
  const { memoryBytes, cpus } = machine;
  const parallelWorkers = Math.min(4, Math.max(2, cpus));
  return {
    // Only this machine, only over TCP: a socket's path may be too long for the system.
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // An API has up to twenty, a worker up to thirty; and while a version is replaced there are twice as many processes.
    max_connections: '200',
    // Statements are short; compiling one costs more than it saves.
    jit: 'off',
    TimeZone: 'UTC',
    log_timezone: 'UTC',
    // A process that froze inside a transaction holds rows that all others wait for: shorter than the lease of a
    // chunk (15 s), longer than any transaction is idle.
    idle_in_transaction_session_timeout: '10s',
    // The statement of a killed process would run on to its end, and hold its locks.
    client_connection_check_interval: '5s',

    // An eighth of the memory, because the Node processes and the page cache need the rest.
    shared_buffers: megabytes(Math.min(2048 * MiB, Math.max(128 * MiB, memoryBytes / 8))),
    // Tells the planner that index pages will mostly be in the page cache.
    effective_cache_size: megabytes(memoryBytes / 2),
    // Sorts and hashes of a chunk of 5,000 rows stay in memory.
    work_mem: '32MB',
    // Index builds sort in this, shared among the workers of one build; 32 MB each at least.
    maintenance_work_mem: '256MB',
    // Solid-state storage: a random read costs barely more than the next page.
    random_page_cost: '1.1',
    // When /dev/shm is too small for parallel queries, use files in the data folder.
    dynamic_shared_memory_type: isRoomy(machine.sharedMemoryFolderBytes) ? 'posix' : 'mmap',

    // Parallel index builds after an import: workers per build, within the two pools they come from, which leave
    // room for other parallel queries.
    max_parallel_maintenance_workers: String(parallelWorkers),
    max_parallel_workers: String(Math.max(8, parallelWorkers * 2)),
    max_worker_processes: String(Math.max(16, parallelWorkers * 4)),

    // Checkpoints by time, not during an import: after each one, every page's next change writes the whole page.
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    wal_compression: build.hasLz4 ? 'lz4' : 'off',

    // Queue and wallet rows change constantly: clean up early and quickly, so that their tables stay small, and
    // keep the planner's statistics fresh during an import.
    autovacuum_naptime: '15s',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_vacuum_insert_scale_factor: '0.1',
    autovacuum_analyze_scale_factor: '0.02',
    autovacuum_vacuum_cost_limit: '2000',

    // The caller reads the server's standard error and limits the file's size.
    logging_collector: 'off',
    log_destination: 'stderr',
    log_line_prefix: '%m [%p] ',
    // One short line per error: a refused search would repeat its statement, and details contain personal data.
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_parameter_max_length: '0',
    log_parameter_max_length_on_error: '0',
  };
}

function isRoomy(bytes: number | null): boolean {
  // Without /dev/shm the system keeps such memory elsewhere (macOS).
  return bytes === null || bytes >= SHARED_MEMORY_FOLDER_MIN;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / MiB)}MB`;
}
