/** How far each follower of the ingest log has processed it. */
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface LogCursorsTables {
  /** The follower of this name has durably processed all rows up to `position`. */
  log_cursors: { name: string; position: number };
}

/** For tools that read a store directly. */
export const cursorsSql = 'select position from log_cursors';

export const logCursorsSchema: Schema = {
  statements: ['create table log_cursors (name text primary key, position bigint not null)'],
};
