import { expect, test } from 'vitest';
import { jsonOutput } from './json-output.ts';
import { createTroubleReporter } from './show-flow.ts';
import { compactJson, readableLog, terminalOutput } from './terminal-output.ts';

const complain = (text: string): void => expect.unreachable(text);
const ids = { organizationId: 'o', locationId: 'l', machineId: 'm', partId: 'p', keyId: 'k' };
const ready = { url: 'http://127.0.0.1:8080', machineName: 'oven 1', ...ids };

test('json: `ready` contains the key on the first start only, and never the sign-in link; keys are snake_case', () => {
  const shown = { url: ready.url, organization_id: 'o', location_id: 'l', machine_id: 'm', part_id: 'p', key_id: 'k' };
  const lines: string[] = [];
  const output = jsonOutput({ write: (text) => lines.push(text), complain });
  output.ready({ ...ready, key: 'secret', signInLink: 'http://x/sign-in' }, '/data', true);
  output.ready(ready, '/data', true);
  expect(lines).toEqual([
    `${JSON.stringify({ event: 'ready', ...shown, key: 'secret' })}\n`,
    `${JSON.stringify({ event: 'ready', ...shown })}\n`,
  ]);
});

test('the safety copy of an upgrade is named, in text and in json, and nothing is said without one', () => {
  const said = (safetyCopy?: string): string[] => {
    const [json, text]: [string[], string[]] = [[], []];
    const shown = { ...ready, ...(safetyCopy && { safetyCopy }) };
    jsonOutput({ write: (line) => json.push(line), complain }).ready(shown, '/data', false);
    terminalOutput({ write: (line) => text.push(line), complain }, false, undefined).ready(shown, '/data', false);
    return [json.join(''), text.join('')];
  };
  const [json = '', text = ''] = said('/data/before-upgrade/meta-v1-ingest-v2');
  expect(JSON.parse(json)).toMatchObject({ event: 'ready', safety_copy: '/data/before-upgrade/meta-v1-ingest-v2' });
  expect(text).toMatch(/safety copy +\/data\/before-upgrade\/meta-v1-ingest-v2\n +made before the data was upgraded; /);
  expect(text.replaceAll(/\n +/g, ' ')).toContain(
    'to go back: platform admin restore /data/before-upgrade/meta-v1-ingest-v2 --data <new directory>, then the older version',
  );
  expect(said().join('')).not.toMatch(/safety.copy/);
});

test('text: the first webhook shows method, path, each header and the body', () => {
  let text = '';
  const output = terminalOutput({ write: (part) => (text += part), complain }, false, undefined);
  const headers = { 'Org-Id': 'o', 'Robot-Id': 'r' };
  output.webhook({ id: 1, receivedAt: '', method: 'POST', path: '/hook', headers, body: { component_name: 'host' } });
  for (const shown of ['POST /hook', 'Org-Id: o', 'Robot-Id: r', '{"component_name":"host"}']) {
    expect(text).toContain(shown);
  }
});

test('text: the last lines say what to do next, after the first webhook or, without the demo, once the cloud runs', () => {
  for (const demo of [true, false]) {
    let text = '';
    const output = terminalOutput({ write: (part) => (text += part), complain }, false, undefined, 'node run.js');
    output.ready(
      { ...ready, key: 'secret', signInLink: 'http://x/sign-in?token=t', caFingerprint: '3A:7F' },
      '/data',
      demo,
    );
    expect(text.includes('What next')).toBe(!demo);
    if (demo) output.webhook({ id: 1, receivedAt: '', method: 'POST', path: '/hook', headers: {}, body: {} });
    const next = text.slice(text.indexOf('What next'));
    for (const shown of [
      'http://x/sign-in?token=t',
      'node run.js query sql',
      'node run.js login --url http://127.0.0.1:8080 --fingerprint 3A:7F',
      'node run.js machines connect press-7',
      "node run.js machines part run 'oven 1' sensor.GetReadings",
      "node run.js config edit 'oven 1'",
      'node run.js up --host 0.0.0.0',
    ])
      expect(next).toContain(shown);
    expect(next.trimEnd().endsWith('Press Ctrl-C to stop everything.')).toBe(true);
  }
});

test('text: the next line overwrites a status line; without a terminal there is no status line', () => {
  let seen = '';
  const live = terminalOutput({ write: (part) => (seen += part), complain }, false, 80);
  live.status({ readingsPerSecond: 1, webhooks: 2 });
  live.status({ readingsPerSecond: 0.5, webhooks: 1 });
  live.stopping();
  expect(seen).toContain('1.0 readings/s stored, 2 webhooks received\r\u001b[K');
  expect(seen).toContain('0.5 readings/s stored, 1 webhook received\r\u001b[K\nStopping');
  let silent = '';
  const unseen = terminalOutput({ write: (part) => (silent += part), complain }, false, undefined);
  unseen.status({ readingsPerSecond: 1, webhooks: 2 });
  expect(silent).toBe('');
});

test('log lines of a process: warnings and plain text are shown, lower levels are not', () => {
  expect(readableLog('{"level":"info","msg":"fine"}')).toBeUndefined();
  expect(readableLog('{"level":"warn","msg":"disk is slow","error":"EIO"}')).toBe('disk is slow: EIO');
  expect(readableLog('{"level":"error","msg":"broken"}')).toBe('broken');
  const damaged = { level: 'error', time: '2026-01-01', logger: 'tabular', msg: 'a file is damaged' };
  expect(readableLog(JSON.stringify({ ...damaged, file: 'a.parquet', reason: 'it is missing', stack: 'a\nb' }))).toBe(
    'a file is damaged (file: a.parquet; reason: it is missing)',
  );
  expect(readableLog('plain words')).toBe('plain words');
});

test('readable JSON: what fits stays on one line, the rest is broken into lines, dates stay dates', () => {
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

test('text: rows are truncated to the width of the terminal; json: they are complete', () => {
  const row = { time_received: new Date(0), component_name: 'host', data: { readings: { text: 'x'.repeat(500) } } };
  let text = '';
  const output = terminalOutput({ write: (part) => (text += part), complain }, false, 120);
  output.reading(row);
  output.query({ language: 'mql', query: [], rows: [row, row] });
  const cut = text.split('\n').filter((line) => line.includes('xxx'));
  expect(cut).toHaveLength(3);
  for (const line of cut) expect(line).toMatch(/^.{119}…$/);
  let json = '';
  jsonOutput({ write: (part) => (json += part), complain }).reading(row);
  expect(json).toContain('x'.repeat(500));
});

test('the reason why nothing can be shown is reported at once, the same one at most once a minute, in json mode only on standard error', () => {
  const printed: string[] = [];
  const complained: string[] = [];
  let now = 0;
  const output = jsonOutput({ write: (text) => printed.push(text), complain: (text) => complained.push(text) });
  const say = createTroubleReporter(output, () => now);
  for (const [at, reason] of [
    [0, 'the key is not valid'],
    [59_999, 'the key is not valid'],
    [59_999, 'no space'],
    [60_000, 'the key is not valid'],
  ] as const) {
    now = at;
    say(new Error(reason));
  }
  const line = (reason: string): string => `cannot show the readings, trying again: ${reason}\n`;
  expect(complained).toEqual([line('the key is not valid'), line('no space'), line('the key is not valid')]);
  expect(printed).toEqual([]);
});

test('a refused upload, as the machine-server logs it on standard output, is shown with its reason', () => {
  let text = '';
  const output = terminalOutput({ write: (part) => (text += part), complain }, false, undefined);
  const msg = 'sync: a file was not accepted; trying again';
  output.logged(
    'machine-server',
    JSON.stringify({ level: 'warn', msg, code: 'resource_exhausted', error: 'no space' }),
  );
  expect(text).toBe(`  machine-server: ${msg}: no space\n`);
});

test('text: a later start prints a short summary, not the readings, queries and next steps of the first day', () => {
  for (const demo of [true, false]) {
    let text = '';
    const output = terminalOutput({ write: (part) => (text += part), complain }, false, undefined);
    output.ready({ ...ready, signInLink: 'http://x/sign-in?token=t' }, '/data', demo);
    if (demo) {
      output.reading({ time_received: new Date(0), component_name: 'host', data: { cpu: 1 } });
      output.resumed(86_412);
    }
    expect(text.trim().split('\n')).toEqual([
      'The cloud is running',
      '  address       http://127.0.0.1:8080',
      '  web UI        http://x/sign-in?token=t',
      '  data          /data',
      '',
      ...(demo
        ? [
            'Waiting for the next reading of this computer: it is captured once a second and synced every second …',
            'Readings of this computer arrive: 86,412 are stored.',
            '',
          ]
        : []),
      'Press Ctrl-C to stop everything.',
    ]);
  }
});

test('text: the first start says what it waits for', () => {
  let text = '';
  terminalOutput({ write: (part) => (text += part), complain }, false, undefined).ready(
    { ...ready, key: 'k' },
    '/d',
    true,
  );
  expect(text).toContain('Waiting for the first reading of this computer');
});
