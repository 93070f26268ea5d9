import { PassThrough } from 'node:stream';
import { printable } from '@platform/sdk/cloud';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOutput, type OutputStyle } from './output.ts';
import { table } from './table.ts';

function captured(style: Partial<OutputStyle>) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const out = createOutput({ json: false, quiet: false, colours: false, ...style }, stdout, stderr, () => {});
  return { out, said: () => ({ out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const hostile = fc.string({ unit: fc.integer({ min: 0, max: 0x2070 }).map((code) => String.fromCharCode(code)) });

test('no untrusted text reaches the terminal with characters that move the cursor, set colours or change the direction', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(printable(text)).not.toMatch(unsafe);
      expect(table(['name', 'id'], [[text, 'x']], { colours: false, width: 40 })).not.toMatch(unsafe);
      expect(table(['name', 'id'], [[text, 'x']], { colours: false }).split('\n')).toHaveLength(2);
    }),
  );
  expect(printable('a\u001b[31m\tb\n')).toBe('a\\u001b[31m\tb\n');
});

test('JSON keeps its meaning although it contains nothing unsafe for a terminal', () => {
  fc.assert(
    fc.property(hostile, (name) => {
      const { out, said } = captured({ json: true });
      out.object({ name });
      const { out: text } = said();
      expect(text).not.toMatch(unsafe);
      expect(JSON.parse(text)).toEqual({ name });
    }),
  );
});

test('rows are a table or JSON of the selected fields; missing fields are null; messages are not results', () => {
  const rows = [
    { id: '1', name: 'press', roles: ['owner', 'operator'], last: null },
    { id: '22', name: 'drill', roles: [], last: 'now' },
  ];
  const text = captured({});
  text.out.rows(rows, ['name', 'roles', 'last']);
  expect(text.said().out).toBe(
    'NAME   ROLES            LAST\npress  owner, operator  -\ndrill  -                now\n',
  );
  const json = captured({ json: ['id', 'other'] });
  json.out.rows(rows, ['name']);
  json.out.note('a message');
  expect(json.said()).toEqual({
    out: `${JSON.stringify(
      rows.map(({ id }) => ({ id, other: null })),
      null,
      2,
    )}\n`,
    err: 'a message\n',
  });
  const empty = captured({ quiet: true });
  empty.out.rows([], ['name']);
  empty.out.note('a message');
  expect(empty.said()).toEqual({ out: '', err: '' });
});

test('records read as key and value, also on a narrow terminal; their JSON is that of a list', () => {
  const rows = [
    { part: 'press-7', state: 'online', last_error: null, waiting_files: 3, other: 1 },
    { part: 'gripper', state: 'offline', last_error: 'no room', waiting_files: 0, other: 2 },
  ];
  const columns = ['part', 'state', 'last_error', 'waiting_files'];
  const text = captured({ width: 30 });
  text.out.records(rows, columns);
  expect(text.said().out).toBe(
    [
      'part           press-7\nstate          online\nlast_error     -\nwaiting_files  3\n',
      'part           gripper\nstate          offline\nlast_error     no room\nwaiting_files  0\n',
    ].join('\n'),
  );
  const json = captured({ json: ['part', 'other'] });
  json.out.records(rows, columns);
  expect(JSON.parse(json.said().out)).toEqual([
    { part: 'press-7', other: 1 },
    { part: 'gripper', other: 2 },
  ]);
});

test('hints and errors name the command that the user started; the rest of the text is as it was', () => {
  const { out, said } = captured({ command: 'node tools/run.js' });
  out.note('the platform runs; see "platform logs press-7", or run:\n  platform up --host 0.0.0.0');
  out.warn('platform machines get: run platform login, ask /opt/platform login, my-platform up');
  expect(said().err).toBe(
    [
      'the platform runs; see "node tools/run.js logs press-7", or run:\n  node tools/run.js up --host 0.0.0.0',
      'node tools/run.js machines get: run node tools/run.js login, ask /opt/platform login, my-platform up\n',
    ].join('\n'),
  );
});
