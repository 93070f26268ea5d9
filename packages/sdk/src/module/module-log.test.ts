import { type LogLevel, PlatformError, systemClock } from '@platform/base';
import type { LogEntry } from '@platform/proto/platform/common/v1/common';
import type { Link } from '@platform/rpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { ModuleLog } from './module-log.ts';

interface Rig {
  readonly log: ModuleLog;
  readonly printed: string[];
  readonly sent: LogEntry[];
}

/** @param take how the machine-server handles a line */
function rig(take: (line: LogEntry) => Promise<void>): Rig & { readonly parent: Pick<Link, 'client'> } {
  const printed: string[] = [];
  const sent: LogEntry[] = [];
  const log = new ModuleLog({
    ...{ name: 'm', level: 'info', clock: systemClock },
    print: (text: string, level: LogLevel) => void printed.push(`${level}: ${text}`),
  });
  onTestFinished(() => log[Symbol.asyncDispose]());
  const calls = {
    async log({ logs }: { logs: LogEntry[] }) {
      for (const line of logs) {
        await take(line);
        sent.push(line);
      }
    },
  };
  return { log, printed, sent, parent: { client: () => calls } as unknown as Pick<Link, 'client'> };
}

test('the queue of waiting lines is bounded: the oldest are dropped, and the next line says how many', async () => {
  const gate = Promise.withResolvers<void>();
  const { log, sent, parent } = rig(() => gate.promise);
  log.sendTo(parent);
  for (let line = 0; line < 1_500; line++) log.log.info(`line ${line}`);
  gate.resolve();
  await expect.poll(() => sent.at(-1)?.message).toBe('line 1499');
  expect(sent.length).toBeLessThan(1_100);
  const dropped = sent.flatMap(({ fields }) => fields).filter((field) => field['Key'] === 'dropped_lines');
  expect(dropped).toHaveLength(1);
});

test('a stack is a separate part of a line, and the other values are its fields', async () => {
  const { log, sent, parent } = rig(async () => {});
  log.sendTo(parent);
  log.log.error('it broke', { stack: 'Error: it broke\n  at x.ts:1', degrees: 90 });
  await expect.poll(() => sent.length).toBe(1);
  expect(sent[0]).toMatchObject({ level: 'error', loggerName: 'm', stack: 'Error: it broke\n  at x.ts:1' });
  expect(sent[0]?.fields.map((field) => field['Key'])).toEqual(['degrees']);
});

test('the level of a resource applies to everything below its log, also after it has changed', async () => {
  const { log, sent, parent } = rig(async () => {});
  log.sendTo(parent);
  const full = 'core:component:sensor/door';
  const driver = log.ofResource(full, undefined).child('driver');
  driver.debug('not yet');
  log.ofResource(full, 'debug');
  driver.debug('details');
  await expect
    .poll(() => sent.map(({ loggerName, message }) => [loggerName, message]))
    .toEqual([[`m.${full}.driver`, 'details']]);
});

test('lines stay in order when the machine-server does not accept one at first', async () => {
  let refusals = 2;
  const { log, sent, printed, parent } = rig(async () => {
    if (refusals-- > 0) throw new PlatformError('unavailable', 'not now');
  });
  log.sendTo(parent);
  for (const line of ['a', 'b', 'c']) log.log.info(line);
  await expect.poll(() => sent.map(({ message }) => message)).toEqual(['a', 'b', 'c']);
  expect(printed).toEqual([]);
});

test('lines are printed if the machine-server does not have this call or is gone', async () => {
  const old = rig(() => Promise.reject(new PlatformError('unimplemented', 'no such method')));
  old.log.sendTo(old.parent);
  old.log.log.warn('hot', { degrees: 90 });
  await expect.poll(() => old.printed).toEqual(['warn: WARN m hot degrees=90\n']);

  const gone = rig(() => Promise.reject(new PlatformError('unavailable', 'gone')));
  gone.log.sendTo(gone.parent);
  gone.log.log.info('last words');
  await gone.log[Symbol.asyncDispose]();
  expect(gone.printed).toEqual(['info: INFO m last words\n']);
});
