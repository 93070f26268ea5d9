/** $rank, $denseRank and $documentNumber: rows tie if they sort alike. */

import { describe } from '../bson/describe.ts';
import { BsonDocument, Int32 } from '../bson/value.ts';
import { compareKeys } from '../execute/stages/sort-keys.ts';
import type { StartWalk } from '../execute/window/partition.ts';
import type { Rank } from '../plan/window.ts';
import { QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const rank: WindowFunctionDefinition<Rank> = {
  names: ['$rank', '$denseRank', '$documentNumber'],
  refusesOthers: true,
  parse: parseRank,
  start,
};

function parseRank({ name, argument, hasWindow, others, by }: WindowSpec): Rank {
  if (hasWindow || others.length > 0) {
    throw new QueryError(5371601, `${name} takes no other arguments, and no window`);
  }
  if (!(argument instanceof BsonDocument) || argument.size > 0) {
    throw new QueryError(5371603, `${name} takes an empty object, found ${describe(argument)}`);
  }
  if (by?.length !== 1) throw new QueryError(5371602, `${name} needs a sortBy of exactly one field`);
  return { k: 'rank', how: name === '$rank' ? 'rank' : name === '$denseRank' ? 'denseRank' : 'documentNumber' };
}

function start({ how }: Rank): StartWalk {
  return ({ keys, by }) => {
    let place = 0;
    let dense = 0;
    return (index) => {
      const ties = index > 0 && compareKeys(keys[index - 1]!, keys[index]!, by) === 0;
      if (!ties) {
        place = index + 1;
        dense++;
      }
      if (how === 'documentNumber') return new Int32(index + 1);
      return new Int32(how === 'rank' ? place : dense);
    };
  };
}
