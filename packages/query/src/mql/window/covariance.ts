/** $covariancePop and $covarianceSamp, over pairs of numbers. */

import type { WindowFunction } from '../../plan/window.ts';
import { parseExpression } from '../expression.ts';
import type { WindowSpec } from './function.ts';

export function parseCovariance({ name, argument, frame, at }: WindowSpec): WindowFunction {
  return { k: 'covariance', sample: name === '$covarianceSamp', input: parseExpression(argument, at), frame };
}
