import { readFileSync } from 'node:fs';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

const urlOf = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/** A process whose main thread does `work` in the call that it has in hand, watched by a thread that allows 0.3 s. */
async function watched(
  work: string,
  { flags = [], stackMs = 20_000 }: { readonly flags?: readonly string[]; readonly stackMs?: number } = {},
): Promise<{
  readonly signal: NodeJS.Signals | null;
  readonly said: Record<string, unknown>;
  readonly ends: string;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}> {
  await using directory = await temporaryDirectory();
  const endsFile = directory.file('ends');
  const program = `
    import { url } from 'node:inspector';
    import { Worker } from 'node:worker_threads';
    import { SharedTurns } from ${urlOf('./shared-turns.ts')};
    const turns = new SharedTurns();
    const call = JSON.stringify({ method: '/a.B/C', caller: 'key:1' });
    globalThis.platformCurrentCall = () => call;
    const setup = { turns: turns.buffer, endsFile: ${JSON.stringify(endsFile)}, maxTurnMs: 300, checkMs: 50, stackMs: ${stackMs} };
    const thread = "import { parentPort, workerData } from 'node:worker_threads';" +
      "import { watchMainThread } from " + ${JSON.stringify(urlOf('./watch-main-thread.ts'))} + ";" +
      "watchMainThread(workerData); parentPort.postMessage('watching');";
    const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(thread)), { workerData: setup });
    worker.once('message', () => {
      turns.turn(url() === undefined);
      turns.callBegan(call);
      ${work}
      turns.turn(false);
      console.log(JSON.stringify({ survived: true }));
      process.exit(0);
    });
    function spin(untilMs = Infinity) { while (process.cpuUsage().user / 1_000 < untilMs) inner(); }
    function inner() { for (let n = 0; n < 1e6; n++) Math.sqrt(n); }`;
  const args = ['--conditions=@platform/source', ...flags, '--input-type=module', '--eval', program];
  await using child = spawnChild(process.execPath, args);
  const { signal } = await child.exited;
  const line = child.stderr.split('\n').find((text) => text.startsWith('{'));
  const { lines } = child;
  return { signal, said: JSON.parse(line ?? '{}'), ends: signal === null ? '' : readFileSync(endsFile, 'utf8'), lines };
}

test('a main thread that spins ends the process; the log has the stack and the call, and so has the file of ends', async () => {
  const { signal, said, ends } = await watched('spin();');
  expect(signal).toBe('SIGKILL');
  expect(said).toMatchObject({ level: 'error', logger: 'watchdog', method: '/a.B/C', caller: 'key:1' });
  expect(said['msg']).toContain('0.3 s of processor time without a turn');
  expect(said['stack']).toEqual(expect.arrayContaining([expect.stringMatching(/^spin \(/)]));
  expect(JSON.parse(ends)).toEqual({ atMs: expect.any(Number), call: { method: '/a.B/C', caller: 'key:1' } });
});

test('a main thread that spins in a regular expression, or in promises, is found, too', async () => {
  const [expression, promises] = await Promise.all([
    watched(`/^(a+)+$/.test('a'.repeat(60) + 'b');`),
    watched('(async () => { for (;;) await null; })(); return;'),
  ]);
  for (const { signal, said } of [expression, promises]) {
    expect(signal).toBe('SIGKILL');
    expect(said).toMatchObject({ method: '/a.B/C', stack: expect.any(Array) });
  }
});

test('in native code the process is ended without a stack, and the call that just began is named', async () => {
  const native = `import.meta.dirname; process.getBuiltinModule('node:crypto').pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512');`;
  const { signal, said } = await watched(native, { stackMs: 500 });
  expect(signal).toBe('SIGKILL');
  expect(said).toMatchObject({ method: '/a.B/C', stack: 'none: the process is in native code' });
});

test('a main thread that waits uses no processor time and is left alone, as is one under a debugger', async () => {
  const [waits, inspected] = await Promise.all([
    watched('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);'),
    watched('spin(1_000);', { flags: ['--inspect=0'] }),
  ]);
  for (const { signal, lines } of [waits, inspected]) {
    expect(signal).toBe(null);
    expect(lines).toEqual([{ survived: true }]);
  }
});
