import { expect, test } from 'vitest';
import { compactJson } from './compact-json.ts';
import { jsonOutput } from './json-output.ts';
import { readableLog } from './readable-log.ts';
import { terminalOutput } from './terminal-output.ts';

const ready = { url: 'http://x', organizationId: 'o', locationId: 'l', machineId: 'm', partId: 'p', keyId: 'k' };

test('json: the key stands in `ready` on a first start only, the sign-in link never', () => {
  const lines: string[] = [];
  const output = jsonOutput((text) => lines.push(text));
  output.ready({ ...ready, key: 'secret', signInLink: 'http://x/sign-in' }, '/data', true);
  output.ready(ready, '/data', true);
  expect(lines).toEqual([
    `${JSON.stringify({ event: 'ready', ...ready, key: 'secret' })}\n`,
    `${JSON.stringify({ event: 'ready', ...ready })}\n`,
  ]);
});

test('text: the first webhook shows method, path, each header and the body', () => {
  let text = '';
  const output = terminalOutput(false, false, (part) => (text += part));
  const headers = { 'Org-Id': 'o', 'Robot-Id': 'r' };
  output.webhook({ id: 1, receivedAt: '', method: 'POST', path: '/hook', headers, body: { component_name: 'host' } });
  for (const shown of ['POST /hook', 'Org-Id: o', 'Robot-Id: r', '{"component_name":"host"}']) {
    expect(text).toContain(shown);
  }
});

test('text: a status line is replaced by the next line, and left out where nobody looks', () => {
  let seen = '';
  const live = terminalOutput(false, true, (part) => (seen += part));
  live.status({ readingsPerSecond: 1, webhooks: 2 });
  live.stopping();
  expect(seen).toContain('1.0 readings/s stored, 2 webhooks caught\r\u001b[K\nStopping');
  let silent = '';
  terminalOutput(false, false, (part) => (silent += part)).status({ readingsPerSecond: 1, webhooks: 2 });
  expect(silent).toBe('');
});

test('a log line of a process: warnings and plain text are shown, what is below a warning is not', () => {
  expect(readableLog('{"level":30,"msg":"fine"}')).toBeUndefined();
  expect(readableLog('{"level":"warn","msg":"disk is slow","error":"EIO"}')).toBe('disk is slow: EIO');
  expect(readableLog('{"level":50,"msg":"broken"}')).toBe('broken');
  expect(readableLog('plain words')).toBe('plain words');
});

test('JSON for a person: what fits stays on one line, the rest is broken, dates stay dates', () => {
  const value = { at: new Date(0), short: [1, 2], long: { first: 'x'.repeat(10), second: ['y'.repeat(10), 'z'] } };
  expect(compactJson(value, 40)).toBe(
    `{
  "at": "1970-01-01T00:00:00.000Z",
  "short": [1,2],
  "long": {
    "first": "xxxxxxxxxx",
    "second": ["yyyyyyyyyy","z"]
  }
}`,
  );
  expect(compactJson({ a: 1 })).toBe('{"a":1}');
});
