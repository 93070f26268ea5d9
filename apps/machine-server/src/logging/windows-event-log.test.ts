import type { LogLine } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { createServerLog } from './server-log.ts';
import { type LineProcess, openEventLog } from './windows-event-log.ts';

/** A process that records its input. */
function recorder() {
  const recorded = { started: [] as string[][], lines: [] as string[], isEnded: false };
  const startProcess = (command: string, args: readonly string[]): LineProcess => {
    recorded.started.push([command, ...args]);
    return {
      write: (line) => void recorded.lines.push(line),
      async end() {
        recorded.isEnded = true;
      },
    };
  };
  return { recorded, startProcess };
}

test('on Windows each line becomes an entry of the event log with its type, its fields and without secrets', async () => {
  const { recorded, startProcess } = recorder();
  const sink = openEventLog({ platform: 'win32', isDisabled: false, startProcess });
  {
    const sinks = sink === undefined ? [] : [sink];
    await using server = createServerLog({ file: '/dev/null', alsoFile: undefined, sinks, clock: new FakeClock() });
    server.levels.set({ debug: true, patterns: [], resources: new Map() });
    const log = server.log.child('a');
    log.debug("d'; Remove-Item x");
    log.info('i', { password: 'p', n: 1 });
    log.warn('w');
    log.error('x'.repeat(40_000));
  }
  const entries = recorded.lines.map((line) => JSON.parse(Buffer.from(line, 'base64').toString('utf8')) as LogLine);
  expect(entries).toEqual([
    { type: 'Information', text: "DEBUG a: d'; Remove-Item x" },
    { type: 'Information', text: 'INFO a: i\npassword: "********"\nn: 1' },
    { type: 'Warning', text: 'WARN a: w' },
    { type: 'Error', text: `ERROR a: ${'x'.repeat(40_000)}`.slice(0, 30_000) },
  ]);
  for (const line of recorded.lines) expect(line).toMatch(/^[\w+/=]+\n$/);
  expect(recorded.isEnded).toBe(true);
  const [[command, ...args] = []] = recorded.started;
  expect(command).toBe('powershell.exe');
  const script = Buffer.from(args.at(-1) ?? '', 'base64').toString('utf16le');
  expect(script).toContain("[System.Diagnostics.EventLog]::WriteEntry('platform-machine-server'");
});

test('elsewhere, and with PLATFORM_NO_WINDOWS_EVENT_LOGGER, there is no event log and no process', () => {
  const { recorded, startProcess } = recorder();
  for (const platform of ['linux', 'darwin'] as const)
    expect(openEventLog({ platform, isDisabled: false, startProcess })).toBeUndefined();
  expect(openEventLog({ platform: 'win32', isDisabled: true, startProcess })).toBeUndefined();
  expect(recorded.started).toEqual([]);
});
