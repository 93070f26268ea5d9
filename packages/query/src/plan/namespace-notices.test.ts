import { expect, test } from 'vitest';
import { parseMql } from '../mql.ts';
import { parseSql } from '../sql.ts';
import { doc } from '../testing/run.ts';
import { namespaceNotices } from './namespace-notices.ts';

const sensor = 'rdk:component:sensor';
const hint = 'component_type begins with "core:" here and never with "rdk:"; write "core:component:sensor"';

test.each([
  { component_type: sensor },
  { $or: [{ a: 1 }, { component_type: { $in: ['x', sensor] } }] },
  { $expr: { $eq: ['$component_type', sensor] } },
])('D2 a literal of the other vocabulary gives a hint: %j', (match) => {
  const plan = parseMql([{ $match: { a: 1 } }, { $match: match }].map(doc));
  expect(namespaceNotices(plan, 'core')).toEqual([expect.stringContaining(hint)]);
  expect(namespaceNotices(plan, 'rdk')).toEqual([]);
});

test('D2 a literal of the other vocabulary in SQL gives a hint with its position', () => {
  const text = `SELECT * FROM readings WHERE data.n > 1 AND component_type = '${sensor}'`;
  const plan = parseSql(text);
  expect(namespaceNotices(plan, 'core')).toEqual([`line 1, column ${text.indexOf('= ') + 1}: ${hint}`]);
});

test('other fields, values and later stages give no hint', () => {
  const plan = parseMql(
    [
      { $match: { component_name: sensor, component_type: 'core:component:arm' } },
      { $project: { component_type: '$component_name' } },
      { $match: { component_type: sensor } },
    ].map(doc),
  );
  expect(namespaceNotices(plan, 'core')).toEqual([]);
});
