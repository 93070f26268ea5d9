import { expect, test } from 'vitest';
import { rssBytes, spawnChild } from './process.ts';
import { startWebhookSink } from './webhook-sink.ts';

test('a child process is read line by line, measured, and killed', async () => {
  const script = `console.log('noise'); console.log('{"ready":1}'); process.stdin.on('data', (line) => console.log(line.toString().trim()));`;
  await using child = spawnChild(process.execPath, ['-e', script]);
  expect(await child.waitForLine(({ ready }) => ready !== undefined)).toEqual({ ready: 1 });
  child.writeLine({ echo: 2 });
  expect(await child.waitForLine(({ echo }) => echo === 2)).toEqual({ echo: 2 });
  expect(rssBytes(child.pid)).toBeGreaterThan(10_000_000);
  expect(await child.kill()).toEqual({ code: null, signal: 'SIGKILL' });
  expect(rssBytes(child.pid)).toBe(0);
  await expect(child.waitForLine(({ never }) => never === true)).rejects.toThrow('ended before');
});

test('the sink keeps what it receives and answers as configured', async () => {
  await using sink = await startWebhookSink();
  const post = (body: string): Promise<Response> =>
    fetch(`${sink.url}/hook?x=1`, { method: 'POST', body, headers: { a: 'b' } });
  expect((await post('one')).status).toBe(200);
  sink.answerWith(({ body }) => ({ status: body === 'two' ? 503 : 204, headers: { 'retry-after': '1' } }));
  const refused = await post('two');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  const waiting = sink.waitFor(3);
  await post('three');
  expect((await waiting).map(({ method, path, body, headers }) => [method, path, body, headers['a']])).toEqual([
    ['POST', '/hook?x=1', 'one', 'b'],
    ['POST', '/hook?x=1', 'two', 'b'],
    ['POST', '/hook?x=1', 'three', 'b'],
  ]);
  await expect(sink.waitFor(9, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
