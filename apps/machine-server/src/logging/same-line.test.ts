import type { LogLevel } from '@platform/base';
import { expect, test } from 'vitest';
import { sameLineKey } from './same-line.ts';

const key = (fields: object, level: LogLevel = 'warn', logger = 'a', message = 'it failed'): string =>
  sameLineKey({ timeMs: 0, level, logger, message, fields: { ...fields } });

test.each([
  ['a count', { failures: 1, file: 'f' }, { failures: 2, file: 'f' }],
  ['any number', { port: 1, rows: [{ n: 1, of: 'x' }] }, { port: 2, rows: [{ n: 2, of: 'x' }] }],
  ['a time', { log_ts: '2026-01-01T00:00:00Z' }, { log_ts: '2026-01-01T00:00:01Z' }],
  ['a duration', { 'grpc.time_ms': '1.2', took: '1.5s' }, { 'grpc.time_ms': '2.2', took: '2s' }],
  ['the id of a call', { callId: 'x', 'request-id': 'x' }, { callId: 'y', 'request-id': 'y' }],
])('%s does not make a line new', (_what, one, other) => {
  expect(key(one)).toBe(key(other));
});

test('another logger, level, message or text field makes a line new', () => {
  const keys = [
    ...[key({ file: 'f' }), key({ file: 'g' }), key({ path: 'f' }), key({ file: 'f' }, 'error')],
    ...[key({ file: 'f' }, 'warn', 'b'), key({ file: 'f' }, 'warn', 'a', 'it works'), key({ open: true }), key({})],
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
