/** How far each follower of the ingest log has processed it. */

export interface LogCursorsTables {
  /** The follower of this name has durably processed all rows up to `position`. */
  log_cursors: { name: string; position: number };
}

/** For tools that read a store directly. */
export const cursorsSql = 'select position from log_cursors';

export const logCursorsSchema: { readonly statements: readonly string[] } = {
  statements: ['create table log_cursors (name text primary key, position bigint not null)'],
};
