/** Tables of the installation itself. */
import type { Kysely } from 'kysely';
import type { SealedColumn } from './sealed-column.ts';

export interface InstanceTables {
  /** Secrets of the installation by name, sealed. */
  instance_secrets: { name: string; secret: Uint8Array };
  /** By name: `instance-key` (id of the key under which all values are sealed), `restored` (JSON: the source backup). */
  instance_state: { name: string; value: string };
}

export type InstanceDatabase = Kysely<InstanceTables>;

export const instanceSealed: readonly SealedColumn[] = [{ table: 'instance_secrets', key: ['name'], sealed: 'secret' }];

export const instanceSchema: { readonly statements: readonly string[] } = {
  statements: [
    'create table instance_secrets (name text primary key, secret blob not null)',
    'create table instance_state (name text primary key, value text not null)',
  ],
};
