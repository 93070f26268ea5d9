import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLine } from '@platform/base';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { LogQueue, type LogQueueOptions } from './log-queue.ts';

async function temporary(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  return directory.file('queue');
}

function line(message: string, timeMs = 0): LogLine {
  return { timeMs, level: 'info', logger: 'a', message, fields: { n: 1 } };
}

/** A started queue, and its reports. */
async function openQueue(directory: string, options: Partial<LogQueueOptions> = {}) {
  const clock = new FakeClock();
  const problems: (string | undefined)[] = [];
  const queue = new LogQueue({ directory, clock, onState: (problem) => problems.push(problem), ...options });
  await queue.start();
  onTestFinished(() => queue[Symbol.asyncDispose]());
  /** Waits until everything that is due is saved. */
  const save = async (): Promise<void> => {
    await clock.advance(1_000);
    // It runs after the save in progress.
    await queue.done(0);
  };
  return { queue, clock, problems, save };
}

/** Takes all lines, like a cloud that accepts them. */
async function takeAll(queue: LogQueue): Promise<LogLine[]> {
  const taken: LogLine[] = [];
  for (;;) {
    const lines = await queue.next(3);
    if (lines === undefined) return taken;
    taken.push(...lines.map((each) => each.line));
    await queue.done(lines.at(-1)?.number ?? 0);
    queue.release();
  }
}

test('saved lines survive a kill, in order and with their fields, before the lines of the next start; a torn end is skipped', async () => {
  const directory = await temporary();
  const first = await openQueue(directory);
  for (let n = 0; n < 5; n++) first.queue.add(line(`old ${n}`, n));
  await first.save();
  const killed = `${directory}-killed`;
  await cp(directory, killed, { recursive: true });
  const [segment = ''] = (await readdir(killed)).filter((name) => /^\d/.test(name));
  const content = await readFile(join(killed, segment), 'utf8');
  await writeFile(join(killed, segment), `${content}${content.slice(0, 40)}`);
  const second = await openQueue(killed);
  second.queue.add(line('new'));
  expect(second.queue.stream).toBe(first.queue.stream);
  expect(await takeAll(second.queue)).toEqual([...[0, 1, 2, 3, 4].map((n) => line(`old ${n}`, n)), line('new')]);
  expect(second.problems).toEqual([]);
});

test('the next start does not resend sent lines, whether all or some of a segment were sent; a sent queue has no segments', async () => {
  const directory = await temporary();
  const first = await openQueue(directory, { segmentBytes: 200 });
  for (let n = 0; n < 20; n++) {
    first.queue.add(line(`line ${n}`));
    await first.save();
  }
  const sent: string[] = [];
  while (sent.length < 8) {
    const lines = (await first.queue.next(1)) ?? [];
    sent.push(...lines.map((each) => each.line.message));
    await first.queue.done(lines.at(-1)?.number ?? 0);
    first.queue.release();
  }
  const second = await openQueue(directory, { segmentBytes: 200 });
  sent.push(...(await takeAll(second.queue)).map(({ message }) => message));
  expect(sent).toEqual(Array.from({ length: 20 }, (_, n) => `line ${n}`));
  expect((await readdir(directory)).filter((name) => /^\d/.test(name))).toEqual([]);
});

test('lines that are sent before they are saved never reach the disk', async () => {
  const directory = await temporary();
  const { queue, save } = await openQueue(directory);
  queue.add(line('at once'));
  await takeAll(queue);
  await save();
  expect(await readdir(directory)).toEqual(['position.json']);
});

test('a full queue drops its oldest lines and reports their number and time, across restarts; the size is bounded', async () => {
  const directory = await temporary();
  const bounds = { segmentBytes: 500, maxBytes: 2_000 };
  for (let start = 0; start < 3; start++) {
    const { queue, save } = await openQueue(directory, bounds);
    for (let n = 0; n < 40; n++) {
      queue.add(line(`line ${start * 40 + n}`, start * 40 + n));
      await save();
    }
    const names = (await readdir(directory)).filter((name) => /^\d/.test(name));
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2_600);
  }
  const { queue } = await openQueue(directory, bounds);
  const [report, ...rest] = await takeAll(queue);
  const dropped = 120 - rest.length;
  expect(rest.map(({ message }) => message)).toEqual(rest.map((_, index) => `line ${dropped + index}`));
  expect(rest.length).toBeGreaterThan(10);
  expect(report).toMatchObject({
    level: 'warn',
    logger: 'cloud-link',
    message: `${dropped} lines were dropped between 1970-01-01T00:00:00.000Z and ${new Date(dropped - 1).toISOString()}: the queue for the cloud was full`,
    fields: { lines: dropped },
  });
});

test('without a usable disk the queue is in memory, within bounds, and reports this once; refused lines are counted', async () => {
  const directory = await temporary();
  await writeFile(directory, 'a file');
  const { queue, problems, save } = await openQueue(directory, { memoryBytes: 2_000 });
  for (let n = 0; n < 100; n++) {
    queue.add(line(`line ${n}`, n));
    if (n % 10 === 0) await save();
  }
  expect(problems).toEqual([expect.stringMatching(/EEXIST|ENOTDIR/)]);
  const kept = await takeAll(queue);
  expect(kept.map(({ message }) => message)).toEqual(kept.map((_, index) => `line ${index}`));
  expect(kept.length).toBeLessThan(100);
  queue.add(line('later'));
  const later = await takeAll(queue);
  expect(later.map(({ fields, message }) => [message, fields['lines']])).toEqual([
    [expect.stringContaining(`${100 - kept.length} lines were dropped between`), 100 - kept.length],
    ['later', undefined],
  ]);
});

test('a damaged position or segment loses only the damaged line, and a long line is cut', async () => {
  const directory = await temporary();
  const first = await openQueue(directory);
  for (const message of ['one', 'two', 'x'.repeat(50_000)]) first.queue.add(line(message));
  await first.save();
  await first.queue[Symbol.asyncDispose]();
  const [segment = ''] = (await readdir(directory)).filter((name) => /^\d/.test(name));
  const content = await readFile(join(directory, segment), 'utf8');
  await writeFile(join(directory, segment), content.replace('"one"', '"oNe"'));
  await writeFile(join(directory, 'position.json'), '{"stream":');
  const second = await openQueue(directory);
  expect(second.queue.stream).not.toBe(first.queue.stream);
  second.queue.add(line('next'));
  expect((await takeAll(second.queue)).map(({ message }) => message)).toEqual(['two', 'x'.repeat(16_384), 'next']);
});
