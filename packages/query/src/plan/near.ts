/** What $geoNear finds of a row goes along with it, beside its fields. */

import type { Expr } from './expr.ts';

/** No name that a pipeline can give a variable. */
export const nearVariable = 'NEAR';

/** The distance in the unit of the query, or the place of the row that was measured. */
export function near(part: 'distance' | 'point'): Expr {
  return { k: 'var', name: nearVariable, path: [part] };
}
