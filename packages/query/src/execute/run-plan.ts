/** How stages that combine sources get the rows of the other one. */

import type { Plan } from '../plan/stage.ts';
import type { Row } from './row.ts';

export type RunPlan = (plan: Plan) => AsyncIterable<Row[]>;
