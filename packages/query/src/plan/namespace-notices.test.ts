import { expect, test } from 'vitest';
import { parseMql } from '../mql.ts';
import { parseSql } from '../sql.ts';
import { doc } from '../testing/run.ts';
import { namespaceNotices } from './namespace-notices.ts';
import { spellApis } from './rewrite/spell-apis.ts';
import type { Plan } from './stage.ts';

const sensor = 'rdk:component:sensor';
const starts = 'component_type begins with "core:" here and never with "rdk:"; write ';
const mql = (...stages: object[]): Plan => parseMql(stages.map(doc));
const noticesOf = (plan: Plan, vocabulary: 'core' | 'rdk' = 'core'): string[] =>
  namespaceNotices(spellApis(plan, vocabulary), vocabulary);

test.each([
  [{ component_type: { $gte: sensor } }, '"core:component:sensor"'],
  [{ $or: [{ a: 1 }, { component_type: { $regex: '^rdk:component' } }] }, '"^core:component"'],
  [{ $expr: { $gt: ['$component_type', sensor] } }, '"core:component:sensor"'],
])('D47 another use of a literal of the other vocabulary gives a notice: %j', (match, hint) => {
  const plan = mql({ $match: { a: 1 } }, { $sort: { a: 1 } }, { $match: match });
  expect(noticesOf(plan)).toEqual([expect.stringContaining(starts + hint)]);
  expect(noticesOf(plan, 'rdk')).toEqual([]);
});

test('D47 another use of a literal of the other vocabulary in SQL gives a notice with its position', () => {
  const text = `SELECT * FROM readings WHERE data.n > 1 AND component_type LIKE 'rdk:%'`;
  expect(noticesOf(parseSql(text))).toEqual([`line 1, column ${text.indexOf('LIKE') + 1}: ${starts}"core:%"`]);
});

test('equality, other fields, values and later stages give no notice', () => {
  const plan = mql(
    { $match: { component_name: { $gte: sensor }, component_type: { $in: ['core:component:arm', sensor] } } },
    { $project: { component_type: '$component_name' } },
    { $match: { component_type: { $gte: sensor } } },
  );
  expect(noticesOf(plan)).toEqual([]);
});
