/** Which rows of binary data are kept by their retention (D24), as a condition used in every query on them: exact at UTC midnight. */
import { type Expression, type SqlBool, sql } from 'kysely';

const dayMs = 86_400_000;

/** For statements that read `binary_data`. */
export function isKept(nowMs: number): Expression<SqlBool> {
  return sql<SqlBool>`not ${isExpired(nowMs)}`;
}

/** Capture day D expires once today − D ≥ days. */
export function isExpired(nowMs: number): Expression<SqlBool> {
  const today = Math.floor(nowMs / dayMs);
  return sql<SqlBool>`exists (
    select 1 from data_retention_days as kept
    where kept.part_id = binary_data.part_id
      and (kept.component_type = '' or (kept.component_type = binary_data.component_type and kept.component_name = binary_data.component_name))
      and kept.days <= ${today} - binary_data.capture_day
  )`;
}
