/** All functions that only SQL has, or computes in a way of its own. */

import type { Functions } from '../definition.ts';
import { sqlCast } from './sql-cast.ts';
import { sqlConditions } from './sql-conditions.ts';
import { sqlNumber } from './sql-number.ts';
import { sqlRows } from './sql-rows.ts';
import { sqlText } from './sql-text.ts';

export const sql: Functions = { ...sqlCast, ...sqlConditions, ...sqlNumber, ...sqlRows, ...sqlText };
