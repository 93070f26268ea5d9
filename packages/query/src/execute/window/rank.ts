/** $rank, $denseRank and $documentNumber: rows tie when they sort alike. */

import { Int32 } from '../../bson/value.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { compareKeys } from '../stages/sort-keys.ts';
import type { StartWalk } from './partition.ts';

export function rank(fn: WindowFunction & { k: 'rank' | 'denseRank' | 'documentNumber' }): StartWalk {
  return ({ keys, by }) => {
    let place = 0;
    let dense = 0;
    return (index) => {
      const ties = index > 0 && compareKeys(keys[index - 1]!, keys[index]!, by) === 0;
      if (!ties) {
        place = index + 1;
        dense++;
      }
      if (fn.k === 'documentNumber') return new Int32(index + 1);
      return new Int32(fn.k === 'rank' ? place : dense);
    };
  };
}
