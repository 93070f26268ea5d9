/** How stages that combine sources get the rows of the other source. */

import type { Plan } from '../plan/stage.ts';
import type { Rows } from './row.ts';

/** @param whole each document must have all of its fields, because the rows are passed on unchanged. */
export type RunPlan = (plan: Plan, whole?: 'whole') => Rows;
