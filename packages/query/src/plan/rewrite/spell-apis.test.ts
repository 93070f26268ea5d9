import { expect, test } from 'vitest';
import { parseMql } from '../../mql.ts';
import { parseSql } from '../../sql.ts';
import { doc, run } from '../../testing/run.ts';
import type { Plan } from '../stage.ts';
import { spellApis } from './spell-apis.ts';

const mql = (...stages: object[]): Plan => parseMql(stages.map(doc));
const sensor = (space: string): string => `${space}:component:sensor`;
const arm = (space: string): string => `${space}:component:arm`;

/** How many rows a plan finds among one sensor and one motor, whose types are shown in this spelling. */
async function found(plan: Plan, vocabulary: 'core' | 'rdk'): Promise<number> {
  const rows = ['sensor', 'motor'].map((type) =>
    doc({ component_type: `${vocabulary}:component:${type}`, data: { n: 1 } }),
  );
  return (await run(rows, spellApis(plan, vocabulary).stages)).length;
}

const plans: Readonly<Record<string, (space: string) => Plan>> = {
  'SQL =': (space) => parseSql(`SELECT * FROM readings WHERE component_type = '${sensor(space)}'`),
  'SQL = mirrored': (space) => parseSql(`SELECT * FROM readings WHERE '${sensor(space)}' = component_type`),
  'SQL = of an alias': (space) => parseSql(`SELECT * FROM readings r WHERE r.component_type = '${sensor(space)}'`),
  'SQL <>': (space) => parseSql(`SELECT * FROM readings WHERE component_type <> '${sensor(space)}'`),
  'SQL IN': (space) => parseSql(`SELECT * FROM readings WHERE component_type IN ('x', '${sensor(space)}')`),
  'SQL subquery': (space) =>
    parseSql(`SELECT * FROM (SELECT * FROM readings WHERE component_type = '${sensor(space)}') AS one`),
  $match: (space) => mql({ $match: { component_type: sensor(space) } }),
  $ne: (space) => mql({ $match: { component_type: { $ne: sensor(space) } } }),
  $in: (space) => mql({ $match: { component_type: { $in: ['x', sensor(space)] } } }),
  $expr: (space) => mql({ $match: { $expr: { $eq: ['$component_type', sensor(space)] } } }),
  'after $sort and $limit': (space) =>
    mql({ $sort: { component_type: -1 } }, { $limit: 2 }, { $match: { component_type: sensor(space) } }),
  'in a computed field': (space) =>
    mql({ $project: { is: { $eq: ['$component_type', sensor(space)] } } }, { $match: { is: true } }),
};

test.each(Object.keys(plans))('D47 both spellings of an API name find the same rows: %s', async (name) => {
  const plan = plans[name] as (space: string) => Plan;
  for (const vocabulary of ['core', 'rdk'] as const)
    for (const space of ['core', 'rdk'])
      expect(await found(plan(space), vocabulary), `${space} in ${vocabulary}`).toBe(1);
});

test('D47 nothing else in a query is touched', () => {
  for (const plan of [
    mql({ $match: { component_name: arm('rdk'), 'data.component_type': arm('rdk') } }),
    mql({ $match: { data: { $elemMatch: { component_type: arm('rdk') } } } }),
    mql({ $match: { component_type: { $gte: arm('rdk') } } }),
    mql({ $project: { component_type: '$data.type' } }, { $match: { component_type: arm('rdk') } }),
    mql({ $match: { component_type: 'acme:component:arm' } }),
    parseSql(`SELECT * FROM readings WHERE component_type LIKE 'rdk:%'`),
  ])
    expect(spellApis(plan, 'core')).toEqual(plan);
});
