/** The folds of $group, $bucket and $bucketAuto by name. */

import type { AccumulatorName } from '../plan/stage.ts';
import { collectFolds } from './accumulators/collect.ts';
import type { NewFold } from './accumulators/fold.ts';
import { numberFolds } from './accumulators/number.ts';
import { percentileFolds } from './accumulators/percentile.ts';
import { pickFolds } from './accumulators/pick.ts';
import { pickNFolds } from './accumulators/pick-n.ts';
import { setFolds } from './accumulators/set.ts';
import { topFolds } from './accumulators/top.ts';

export const accumulators: Readonly<Record<AccumulatorName, NewFold>> = {
  ...numberFolds,
  ...pickFolds,
  ...collectFolds,
  ...setFolds,
  ...pickNFolds,
  ...topFolds,
  ...percentileFolds,
};
