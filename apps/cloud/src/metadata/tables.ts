/** The row types of every table in meta.sqlite, gathered from the features that own them (types only, so that nothing is loaded). */
import type { Kysely } from 'kysely';

// Each feature's store.ts exports its XxxTables; adding a feature adds one line here.
export type CloudTables = object;

export type Database = Kysely<CloudTables>;
