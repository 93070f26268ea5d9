import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { createLogFilter, type LogQuery } from './filter.ts';
import { type Line, lineOf, ownLineOf } from './line.ts';

const line = (init: MessageInitShape<typeof LogEntrySchema>): Line => lineOf('p', create(LogEntrySchema, init), 0);
const kept = (query: LogQuery, lines: readonly Line[]): string[] =>
  lines.filter(createLogFilter(query)).map(({ message }) => message);

test("levels match in every logger's spelling, and errors only includes errors and worse", () => {
  const lines = ['DEBUG', 'info', 'WARNING', 'Error', 'fatal'].map((level) => line({ level, message: level }));
  expect(kept({ levels: ['warn'] }, lines)).toEqual(['WARNING']);
  expect(kept({ levels: ['Warning', 'ERROR'] }, lines)).toEqual(['WARNING', 'Error']);
  expect(kept({ errorsOnly: true }, lines)).toEqual(['Error', 'fatal']);
  expect(kept({ levels: ['info'], errorsOnly: true }, lines)).toEqual([]);
  expect(kept({ levels: [''] }, lines)).toHaveLength(5);
});

test('an unknown level is refused with the list of known ones; the spellings of public loggers are accepted', () => {
  expect(() => createLogFilter({ levels: ['info', 'eror'] })).toThrow(
    /^levels: expected any of trace, debug, .*"eror"$/,
  );
  const spelt = ['TRACE', 'Debug', 'INFO', 'information', 'WARNING', 'err', 'dpanic', 'PANIC', 'Fatal', 'CRITICAL'];
  for (const level of spelt) expect(kept({ levels: [level] }, [line({ level, message: level })])).toEqual([level]);
});

test('text is found case-insensitively in message, logger, stack and fields, and is taken literally', () => {
  const lines = [
    line({ message: 'Pump STUCK at 5%' }),
    line({ message: 'b', loggerName: 'rdk.pump' }),
    line({ message: 'c', stack: 'main.pump()' }),
    line({ message: 'd', fields: [{ Key: 'name', String: 'pump-1' }] }),
    line({ message: 'other', caller: { File: 'pump.go' } }),
  ];
  expect(kept({ filter: 'pump' }, lines)).toEqual(['Pump STUCK at 5%', 'b', 'c', 'd']);
  expect(kept({ filter: 'stuck at 5%' }, lines)).toEqual(['Pump STUCK at 5%']);
  for (const literal of ['.*', '%', '_', '/'])
    expect(kept({ filter: literal }, [line({ message: 'abc' })])).toEqual([]);
});

test('text between slashes is a regular expression; a trailing i makes it case-insensitive', () => {
  const lines = ['took 12 ms', 'Took 7 ms', 'took long'].map((message) => line({ message }));
  expect(kept({ filter: '/took \\d+ ms$/' }, lines)).toEqual(['took 12 ms']);
  expect(kept({ filter: '/^took \\d+/i' }, lines)).toEqual(['took 12 ms', 'Took 7 ms']);
});

test('an invalid or overlong regular expression is refused with the reason', () => {
  expect(() => createLogFilter({ filter: '/[a/' })).toThrow(/expression of RE2 between slashes, found \/\[a\/: /);
  expect(() => createLogFilter({ filter: '/((a{100}){100}){100}/' })).toThrow(/expression of RE2/);
  expect(() => createLogFilter({ filter: 'a'.repeat(1_001) })).toThrow(/at most 1000 characters, found 1001/);
});

test('an expression that would make a backtracking engine hang is answered', () => {
  const evil = line({ message: `${'a'.repeat(16_000)}!` });
  expect(kept({ filter: '/^(a+)+$/' }, [evil])).toEqual([]);
});

test('a source matches a logger and those below it', () => {
  const lines = ['rdk.sync', 'rdk.sync.upload', 'rdk.synced', 'rdk'].map((loggerName) =>
    line({ loggerName, message: loggerName }),
  );
  expect(kept({ source: 'rdk.sync' }, lines)).toEqual(['rdk.sync', 'rdk.sync.upload']);
});

test('user-facing lines are those marked as such, and those written by the cloud', () => {
  const lines = [
    line({ message: 'plain', fields: [{ user_facing: true }] }),
    line({ message: 'zap', fields: [{ Key: 'user_facing', Integer: 1 }] }),
    line({ message: 'no', fields: [{ Key: 'user_facing', Integer: 0 }] }),
    line({ message: 'none' }),
    ownLineOf('p', { level: 'error', loggerName: 'cloud.ingest', message: 'cloud' }, 0),
  ];
  expect(kept({ userFacingOnly: true }, lines)).toEqual(['plain', 'zap', 'cloud']);
});
