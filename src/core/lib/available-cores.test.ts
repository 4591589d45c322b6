import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { availableCores } from './available-cores.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'enrich-cores-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

test('are all of the machine without a quota', () => {
  expect(availableCores(8, root)).toBe(8);
  write('proc/self/cgroup', '0::/\n');
  write('sys/fs/cgroup/cpu.max', 'max 100000\n');
  expect(availableCores(8, root)).toBe(8);
});

test.each([
  ['200000 100000', 2],
  ['150000 100000', 2],
  ['20000 100000', 1],
  ['900000 100000', 8],
])('are those of a container with the quota %s', (quota, cores) => {
  write('proc/self/cgroup', '0::/\n');
  write('sys/fs/cgroup/cpu.max', `${quota}\n`);
  expect(availableCores(8, root)).toBe(cores);
});

test('are those of the tightest group above the own one', () => {
  write('proc/self/cgroup', '1:name=systemd:/other\n0::/system.slice/enrich.service\n');
  write('sys/fs/cgroup/system.slice/cpu.max', '300000 100000\n');
  write('sys/fs/cgroup/system.slice/enrich.service/cpu.max', 'max 100000\n');
  expect(availableCores(8, root)).toBe(3);
});
