/** How far each follower of the ingest log has processed it. */

export interface LogCursorsTables {
  /** The follower of this name has durably processed all rows up to `position`. */
  log_cursors: { name: string; position: number };
}

export const logCursorsV8: readonly string[] = [
  'create table log_cursors (name text primary key, position bigint not null)',
  "insert into log_cursors (name, position) select 'triggers', position from trigger_cursors",
  "insert into log_cursors (name, position) select 'binary data', position from binary_data_cursor",
  'drop table trigger_cursors',
  'drop table binary_data_cursor',
];

/** For tools that read a store directly. */
export const cursorsSql = 'select position from log_cursors';
