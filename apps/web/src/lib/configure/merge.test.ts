import { expect, test } from 'vitest';
import { merge, withTheirs } from './merge.ts';

const motor = { name: 'wheel', model: 'fake' };
const sensor = { name: 'oven', model: 'fake' };
const base = { components: [motor, sensor], log: [] };

test('changes that only one side made are merged, entry by entry', () => {
  const mine = { components: [{ ...motor, attributes: { max_rpm: 5 } }, sensor, { name: 'new' }], log: [] };
  const theirs = { components: [motor, { ...sensor, disabled: true }], debug: true, log: [] };
  expect(merge({ base, mine, theirs })).toEqual({
    document: {
      components: [{ ...motor, attributes: { max_rpm: 5 } }, { ...sensor, disabled: true }, { name: 'new' }],
      log: [],
      debug: true,
    },
    taken: ['components oven', 'debug'],
    conflicts: [],
  });
});

test('an entry that both changed differently is a conflict: the draft stays until theirs is chosen', () => {
  const mine = { components: [{ ...motor, model: 'a' }, sensor], log: [] };
  const theirs = { components: [{ ...motor, model: 'b' }, sensor], log: [] };
  const { document, conflicts } = merge({ base, mine, theirs });
  expect(document).toEqual(mine);
  expect(conflicts).toEqual([
    { key: 'components', name: 'wheel', mine: mine.components[0], theirs: theirs.components[0] },
  ]);
  expect(conflicts.map((one) => withTheirs(document, one))).toEqual([theirs]);
});

test('removed here and changed there is a conflict; removed here and unchanged there stays removed; the same change is no conflict', () => {
  const gone = { components: [sensor], log: [] };
  expect(merge({ base, mine: gone, theirs: base }).document).toEqual(gone);
  expect(merge({ base, mine: base, theirs: gone }).document).toEqual(gone);
  expect(merge({ base, mine: gone, theirs: gone })).toEqual({ document: gone, taken: [], conflicts: [] });
  const { document, conflicts } = merge({
    base,
    mine: gone,
    theirs: { components: [{ ...motor, model: 'b' }, sensor], log: [] },
  });
  expect(document).toEqual(gone);
  expect(conflicts.map((one) => withTheirs(document, one).components)).toEqual([[sensor, { ...motor, model: 'b' }]]);
});

test('lists without names, such as log, and single settings are merged as a whole', () => {
  const log = [{ pattern: '.*', level: 'warn' }];
  expect(merge({ base, mine: base, theirs: { ...base, log } }).document).toEqual({ ...base, log });
  const mine = { ...base, log: [{ pattern: 'a', level: 'info' }] };
  const { document, conflicts } = merge({ base, mine, theirs: { ...base, log } });
  expect(conflicts).toEqual([{ key: 'log', name: undefined, mine: mine.log, theirs: log }]);
  expect(conflicts.map((one) => withTheirs(document, one))).toEqual([{ ...base, log }]);
});
