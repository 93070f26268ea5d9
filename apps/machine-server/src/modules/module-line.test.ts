import { expect, test } from 'vitest';
import { loggerOf, readPrinted } from './module-line.ts';

test('a line that a module in Python prints loses its colour codes and its second time, and keeps its level', () => {
  const text =
    '2026-11-30 22:15:33,123\t\t\u001b[33;33mWARNING\u001b[0m\trdk:component:sensor/door (door.py:12)\tit is hot\t';
  const line = { level: 'warn', logger: 'core:component:sensor/door', message: 'door.py:12\tit is hot', fields: {} };
  expect(readPrinted(text, 'info', 'm')).toEqual(line);
  const other = { level: 'error', logger: '', message: 'plain red', fields: {} };
  expect(readPrinted('\u001b[31mplain red\u001b[0m', 'error', 'm')).toEqual(other);
});

test('fields of a line that a module in Go prints are fields, and its time and place are left out', () => {
  const head = '2026-11-30T22:15:33.123Z\tERROR\tm.rdk:component:sensor/door\tdoor/door.go:9\t';
  const line = { level: 'error', logger: 'core:component:sensor/door', message: 'cannot read' };
  expect(readPrinted(`${head}cannot read\t{"pin":7,"error":"no bus"}`, 'info', 'm')).toEqual({
    ...line,
    fields: { pin: 7, error: 'no bus' },
  });
  expect(readPrinted(`${head}cannot read\t{7}`, 'info', 'm')).toMatchObject({
    message: 'cannot read\t{7}',
    fields: {},
  });
  expect(readPrinted('2026-11-30T22:15:33.123-0500\tINFO\tm\tstarted', 'error', 'm')).toEqual({
    ...{ level: 'info', logger: '', message: 'started', fields: {} },
  });
});

test('any other line is logged as it is, also one that begins with a time', () => {
  for (const text of ['2026-11-30 22:15:33 value 7', '', 'a\tb {"c": 1}'])
    expect(readPrinted(text, 'info', 'm')).toEqual({ level: 'info', logger: '', message: text, fields: {} });
});

test('the name of a module is recognised in its loggers in all languages', () => {
  const loggers = ['my.mod', 'my/mod', 'my.mod.rdk:component:sensor/a', 'rdk:component:sensor/a', 'other'];
  expect(loggers.map((name) => loggerOf(name, 'my.mod'))).toEqual([
    ...['', '', 'core:component:sensor/a', 'core:component:sensor/a', 'other'],
  ]);
});
