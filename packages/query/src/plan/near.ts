/** What $geoNear finds for a row is kept with the row, outside its fields. */

import type { Expr } from './expr.ts';

/** A name that no pipeline can give to a variable. */
export const nearVariable = 'NEAR';

/** The distance in the unit of the query, or the row's place that was measured. */
export function near(part: 'distance' | 'point'): Expr {
  return { k: 'var', name: nearVariable, path: [part] };
}
