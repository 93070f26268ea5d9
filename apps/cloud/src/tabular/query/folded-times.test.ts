import { BsonDate, BsonDocument, type BsonValue, encodeBson, type Plan } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { parseSql } from '@platform/query/sql';
import { expect, test } from 'vitest';
import { openTabular, wholeOrganization } from '../testing/open-tabular.ts';

function bson(value: unknown): BsonValue {
  if (Array.isArray(value)) return value.map(bson);
  if (value instanceof Date) return new BsonDate(value.getTime());
  if (typeof value !== 'object' || value === null) return value as BsonValue;
  return new BsonDocument(Object.entries(value).map(([name, each]) => [name, bson(each)]));
}

function matching(condition: object): Plan {
  return parseMql([encodeBson(bson({ $match: condition }) as BsonDocument)]);
}

test('a time computed from constants excludes files like a plain date', async () => {
  await using store = await openTabular();
  const days = ['2026-05-17', '2026-05-18', '2026-05-19'];
  for (const day of days) {
    store.append({ readings: [{ data: { day }, receivedMs: Date.parse(`${day}T12:00:00Z`) }] });
    await store.tabular.seal();
  }
  const since = '2026-05-19T00:00:00Z';
  const atLeast = (time: unknown): Plan => matching({ $expr: { $gte: ['$time_received', time] } });
  const plans = {
    'a date': matching({ time_received: { $gte: new Date(since) } }),
    'a date in $expr': atLeast(new Date(since)),
    $toDate: atLeast({ $toDate: since }),
    $dateFromString: atLeast({ $dateFromString: { dateString: since } }),
    'a computed date': atLeast({ $dateAdd: { startDate: { $toDate: '2026-05-18' }, unit: 'day', amount: 1 } }),
    'SQL CAST': parseSql(`SELECT * FROM readings WHERE time_received >= CAST('${since}' AS TIMESTAMP)`),
    'SQL DATEADD': parseSql("SELECT * FROM readings WHERE time_received >= DATEADD(DAY, 1, TIMESTAMP '2026-05-18')"),
  };
  const found: Record<string, unknown> = {};
  for (const [name, plan] of Object.entries(plans)) {
    const ask = { plan, scope: wholeOrganization, vocabulary: 'core', explain: true } as const;
    const { count, explain } = await store.tabular.query(ask);
    found[name] = { count, listed: explain?.filesListed, skipped: explain?.filesSkipped };
  }
  const one = { count: 1, listed: 3, skipped: 2 };
  expect(found).toEqual(Object.fromEntries(Object.keys(plans).map((name) => [name, one])));
});
