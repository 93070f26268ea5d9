import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seriesFilter } from './series-filter.ts';

const rows = 200_000;
const series = 40;
const stack = new DisposableStack();
let read: (where: string) => Promise<{ at: number; series: number }[]>;

beforeAll(async () => {
  const instance = stack.adopt(await DuckDBInstance.create(':memory:', { threads: '2' }), (each) => each.closeSync());
  const connection = stack.adopt(await instance.connect(), (each) => each.closeSync());
  await connection.run(
    `CREATE TABLE stored AS SELECT range AS place, CAST(range // ${rows / series} AS INTEGER) AS series FROM range(${rows})`,
  );
  read = async (where) => {
    const found = await connection.runAndReadAll(`SELECT CAST(place AS INTEGER), series FROM stored WHERE ${where}`);
    return (found.getRows() as [number, number][]).map(([at, number]) => ({ at, series: number }));
  };
});

afterAll(() => stack.dispose());

test('exactly the rows of chosen series are read, in storage order, also when negated', async () => {
  const numbers = fc.subarray([...Array(series).keys()], { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(numbers, async (chosen) => {
      const [found, others] = [await read(seriesFilter(chosen)), await read(`NOT (${seriesFilter(chosen)})`)];
      expect(new Set(found.map((row) => row.series))).toEqual(new Set(chosen));
      expect(found.length + others.length).toBe(rows);
      for (const answer of [found, others]) {
        expect(answer.every(({ at }, index) => index === 0 || at > (answer[index - 1]?.at ?? 0))).toBe(true);
      }
    }),
    { numRuns: 12 },
  );
});
