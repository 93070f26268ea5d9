import { expect, test } from 'vitest';
import { checkedIn } from './checked-table.ts';

test('a checked table has the key and the columns of its statement, bytes apart', () => {
  const checked = checkedIn([
    'create table trees (id text primary key)',
    "create table leaves (tree text not null references trees (id), place integer, shape text not null default '{}', seen_ms bigint, picture blob not null unique, row_check text, primary key (tree, place), unique (shape, tree))",
    'create index leaves_by_shape on leaves (shape)',
  ]);
  expect(checked('trees', 'tree')).toEqual({ table: 'trees', what: 'tree', key: ['id'], columns: ['id'] });
  expect(checked('leaves', 'leaf', { owner: 'tree', uncovered: ['seen_ms'] })).toEqual({
    ...{ table: 'leaves', what: 'leaf', key: ['tree', 'place'], owner: 'tree' },
    ...{ columns: ['tree', 'place', 'shape'], bytes: ['picture'] },
  });
});
