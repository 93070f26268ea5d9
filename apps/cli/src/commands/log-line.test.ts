import { zapFields } from '@platform/base/zap-field';
import type { LogEntry } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { logLine } from './log-line.ts';

test('an error that the message contains is told once; other fields follow as key=value', () => {
  const error = 'received unretryable status code: 404 in webhook response';
  const message = `trigger failed to notify http://a/; error: ${error}, response code: 404`;
  const fields = zapFields({ error, responseCode: 404, messageId: 'm 1' });
  const entry = { level: 'error', loggerName: 'app.trigger.hot', message, fields, stack: '' };
  const line = logLine(entry as unknown as LogEntry);
  expect(line).toMatch(/ERROR {2}app\.trigger\.hot {2}trigger failed/);
  expect(line.split(error)).toHaveLength(2);
  expect(line).toMatch(/404 {2}responseCode=404 {2}messageId="m 1"$/);
});
