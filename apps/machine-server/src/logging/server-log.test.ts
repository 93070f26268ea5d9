import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogLine, systemClock } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { createServerLog } from './server-log.ts';

async function logFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'log-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'below', 'server.log');
}

test('closing the log writes all lines to its files, in order', async () => {
  const [file, alsoFile] = [await logFile(), await logFile()];
  const count = 5_000;
  {
    await using server = createServerLog({ file, alsoFile, clock: systemClock });
    server.deduplicate = false;
    for (let i = 0; i < count; i++) server.log.child('a').info('line', { i });
  }
  const expected = Array.from({ length: count }, (_, i) => expect.stringMatching(new RegExp(`INFO +a line i=${i}$`)));
  for (const path of [file, alsoFile]) {
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toEqual(expected);
  }
});

test('a line logged more than three times within the past minute is held back, unless configured otherwise or at debug level', async () => {
  const clock = new FakeClock();
  await using server = createServerLog({ file: await logFile(), alsoFile: undefined, clock });
  const lines: LogLine[] = [];
  server.onLine((line) => lines.push(line));
  const written = (): string[] => lines.splice(0).map(({ message }) => message);
  // One every 15 s: in any minute, a fourth one would be noisy.
  for (let i = 0; i < 4; i++) {
    server.log.warn('again');
    await clock.advance(15_000);
  }
  expect(written()).toEqual(['again', 'again', 'again']);
  server.log.warn('again');
  server.log.warn('again', { other: 'field' });
  expect(written()).toEqual(['again']);
  for (let failures = 0; failures < 4; failures++)
    server.log.warn('it failed', { failures, waitMs: 2 ** failures, callId: `call-${failures}` });
  expect(written()).toHaveLength(3);
  server.log.error('it failed', { failures: 4 });
  expect(written()).toEqual(['it failed']);
  server.deduplicate = false;
  for (let i = 0; i < 4; i++) server.log.warn('again');
  expect(written()).toHaveLength(4);
  server.deduplicate = true;
  server.levels.set({ debug: false, patterns: [{ pattern: 'noisy', level: 'debug' }], resources: new Map() });
  for (let i = 0; i < 5; i++) server.log.child('noisy').info('again');
  expect(written()).toHaveLength(5);
});

test('a minute after a line was first held back, a summary says how often it was repeated, without another line', async () => {
  const clock = new FakeClock();
  const lines: LogLine[] = [];
  {
    await using server = createServerLog({ file: await logFile(), alsoFile: undefined, clock });
    server.onLine((line) => lines.push(line));
    const log = server.log.child('a');
    for (let i = 0; i < 10; i++) log.error('again', { file: 'f' });
    await clock.advance(59_999);
    expect(lines.splice(0)).toHaveLength(3);
    await clock.advance(1);
    const summary = { level: 'error', logger: 'a', fields: { file: 'f' }, timeMs: clock.now() };
    expect(lines.splice(0)).toEqual([{ ...summary, message: 'repeated 7 more times in the past minute: again' }]);
    await clock.advance(600_000);
    expect(lines).toEqual([]);
    for (let i = 0; i < 4; i++) log.error('again', { file: 'f' });
    expect(lines.splice(0)).toHaveLength(3);
  }
  // A stop does not wait for the minute.
  expect(lines.map(({ message }) => message)).toEqual(['repeated once more in the past minute: again']);
});

test('the text of a line shows control characters escaped, and no message looks like a separate line', async () => {
  const file = await logFile();
  {
    await using server = createServerLog({ file, alsoFile: undefined, clock: new FakeClock() });
    server.log.child('a\u001b[1m').info('one\n2026-01-01T00:00:00.000Z ERROR forged\r\u001b[2K', { name: '\u009b31m' });
  }
  expect(await readFile(file, 'utf8')).toBe(
    '2026-01-01T00:00:00.000Z INFO  a\\u001b[1m one\n    2026-01-01T00:00:00.000Z ERROR forged\\u000d\\u001b[2K name=\\u009b31m\n',
  );
});
