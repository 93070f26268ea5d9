/** A saved query as the commands find and show it. */
import { type JsonObject, PlatformError, readRow, type SavedQuery, typedJson } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { pick } from '../../invocation/find.ts';
import { timeOf } from '../../invocation/presenters.ts';

export const fields: readonly string[] = ['id', 'name', 'stages', 'created_at', 'updated_at', 'organization_id'];
export const savedArgument = ['<query>', 'name or id'] as const;

export function shape(one: SavedQuery): JsonObject {
  return {
    id: one.id,
    name: one.name,
    stages: one.mqlBinary.length,
    created_at: timeOf(one.createdOn),
    updated_at: timeOf(one.updatedAt),
    organization_id: one.organizationId,
  };
}

/** One stage per line, in the form that `create` and `update` accept, with all types preserved. */
export function pipelineText({ mqlBinary }: SavedQuery): string {
  return `[\n${mqlBinary.map((bson) => `  ${typedJson(readRow(bson))}`).join(',\n')}\n]`;
}

/** The saved queries of the selected organization, by name. */
export async function savedQueries({ cloud, find, signal }: Context): Promise<readonly SavedQuery[]> {
  const { id: organizationId } = await find.organization();
  return (await (await cloud()).data.listSavedQueries({ organizationId }, { signal })).queries;
}

/** @throws not_found with similar names */
export async function savedQuery(context: Context, text: string): Promise<SavedQuery> {
  if (!/^[0-9a-f-]{36}$/i.test(text)) return pick('saved query', text, await savedQueries(context));
  return savedQueryById(context, text);
}

export async function savedQueryById({ cloud, signal }: Context, id: string): Promise<SavedQuery> {
  const { savedQuery: found } = await (await cloud()).data.getSavedQuery({ id }, { signal });
  if (found !== undefined) return found;
  throw new PlatformError('not_found', `saved query: expected the id of one that you may see, found "${id}"`);
}
