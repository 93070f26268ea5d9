/** How far each follower of the ingest log has come. */

export interface LogCursorsTables {
  /** All rows of the log up to `position` are processed by the follower of that name, durably. */
  log_cursors: { name: string; position: number };
}

export const logCursorsV8: readonly string[] = [
  'create table log_cursors (name text primary key, position bigint not null)',
  "insert into log_cursors (name, position) select 'triggers', position from trigger_cursors",
  "insert into log_cursors (name, position) select 'binary data', position from binary_data_cursor",
  'drop table trigger_cursors',
  'drop table binary_data_cursor',
];

/** For who looks into a store by itself. */
export const cursorsSql = 'select position from log_cursors';
