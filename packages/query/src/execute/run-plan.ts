/** How stages that combine sources get the rows of the other one. */

import type { Plan } from '../plan/stage.ts';
import type { Row } from './row.ts';

/** @param whole the rows are handed on as they are: each document must have all of its fields. */
export type RunPlan = (plan: Plan, whole?: 'whole') => AsyncIterable<Row[]>;
