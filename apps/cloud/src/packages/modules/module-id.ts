/** Ids of modules: `<organization>:<name>`, with the id or the public namespace of the organization. */
import { notVisible } from '../../access/principal.ts';

/** @throws not_found, as for a nonexistent module */
export function splitModuleId(id: string): { readonly owner: string; readonly name: string } {
  const [, owner, name] = /^([^:/]{1,100}):([^:/]{1,100})$/.exec(id) ?? [];
  if (owner === undefined || name === undefined) throw notVisible('module', id);
  return { owner, name };
}
