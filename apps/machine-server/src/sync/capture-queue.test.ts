import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CaptureQueue, type QueueOrder } from './capture-queue.ts';

const { signal } = new AbortController();

function folder(files: Readonly<Record<string, readonly number[]>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'queue-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [resource, times] of Object.entries(files)) {
    mkdirSync(join(directory, resource, 'Readings'), { recursive: true });
    for (const time of times)
      writeFileSync(join(directory, resource, 'Readings', `${resource.at(-1)}${time}.capture`), '');
  }
  return directory;
}

function queueOf(directory: string, order: Partial<QueueOrder> = {}, isDue = (_path: string) => true): CaptureQueue {
  const usual = { newestFirst: false, priorityOf: () => 0, ...order };
  return new CaptureQueue({ directories: () => [directory], order: () => usual, isDue, signal, onOmitted: () => {} });
}

async function names(queue: CaptureQueue, taken: Set<string> = new Set()): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of queue.due()) {
    found.push(basename(path, '.capture'));
    taken.add(path);
  }
  return found;
}

test('capture files are sent oldest first, newest first on request, and first those of resources with higher priority', async () => {
  const directory = folder({ 'api/a': [1, 3], 'api/b': [2, 4] });
  const priorityOf = (resource: string): number => (resource === 'api/b' ? 5 : 0);
  expect(await names(queueOf(directory, { priorityOf }))).toEqual(['b2', 'b4', 'a1', 'a3']);
  expect(await names(queueOf(directory, { priorityOf, newestFirst: true }))).toEqual(['b4', 'b2', 'a3', 'a1']);
  expect(await names(queueOf(directory))).toEqual(['a1', 'a3', 'b2', 'b4']);
});

test('a file that is sealed while a backlog is being sent comes next, and only once', async () => {
  const directory = folder({ 'api/a': [1, 2, 3] });
  const sent = new Set<string>();
  const queue = queueOf(directory, {}, (path) => !sent.has(path));
  const found: string[] = [];
  for await (const { path } of queue.due()) {
    found.push(basename(path, '.capture'));
    sent.add(path);
    if (found.length !== 1) continue;
    const fresh = join(directory, 'api/a/Readings/a9.capture');
    writeFileSync(fresh, '');
    queue.sealed(fresh);
  }
  expect(found).toEqual(['a1', 'a9', 'a2', 'a3']);
});
