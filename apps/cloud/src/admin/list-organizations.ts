/** The organizations of the installation, for the host administrator: ids and names, nothing of what is in them. */
import { storedOrganizations } from '../accounts/organizations/stored-organizations.ts';
import type { Database } from '../metadata/tables.ts';

export interface OrganizationLine {
  readonly id: string;
  readonly name: string;
  readonly createdMs: number;
}

/** Oldest first. */
export async function listOrganizations(db: Database): Promise<OrganizationLine[]> {
  const rows = await storedOrganizations(db);
  return rows.map((row) => ({ id: row.id, name: row.name, createdMs: row.created_ms }));
}
