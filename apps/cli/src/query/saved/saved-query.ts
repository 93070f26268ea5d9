/** A saved query as the commands find and show it. */
import { notFound } from '@platform/base/refusals';
import { type JsonObject, readRow, type SavedQuery, typedJson } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { pick } from '../../invocation/find.ts';
import { withOrganizations } from '../../results/names.ts';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';

export const savedArgument = ['<query>', 'name or id'] as const;

const savedQueryResult: Presenter<SavedQuery> = presenter({
  id: (one) => one.id,
  name: (one) => one.name,
  stages: (one) => one.mqlBinary.length,
  created_at: (one) => timeOf(one.createdOn),
  updated_at: (one) => timeOf(one.updatedAt),
  organization_id: (one) => one.organizationId,
});
export const savedQueryFields: readonly string[] = [...savedQueryResult.fields, 'organization'];

export function shapes(context: Context, queries: readonly SavedQuery[]): Promise<JsonObject[]> {
  return withOrganizations(context, queries.map(savedQueryResult.shape));
}

export async function show(context: Context, query: SavedQuery): Promise<void> {
  const [shown] = await shapes(context, [query]);
  if (shown !== undefined) context.out.object(shown);
}

/** One stage per line, in the form that `create` and `update` accept, with all types preserved. */
export function pipelineText({ mqlBinary }: SavedQuery): string {
  return `[\n${mqlBinary.map((bson) => `  ${typedJson(readRow(bson))}`).join(',\n')}\n]`;
}

/** The saved queries of the selected organization, by name. */
export async function savedQueries({ cloud, find }: Context): Promise<readonly SavedQuery[]> {
  const { id: organizationId } = await find.organization();
  return (await (await cloud()).data.listSavedQueries({ organizationId })).queries;
}

/** @throws not_found with similar names */
export async function savedQuery(context: Context, text: string): Promise<SavedQuery> {
  if (!/^[0-9a-f-]{36}$/i.test(text)) return pick('saved query', text, await savedQueries(context));
  return savedQueryById(context, text);
}

export async function savedQueryById({ cloud }: Context, id: string): Promise<SavedQuery> {
  const { savedQuery: found } = await (await cloud()).data.getSavedQuery({ id });
  if (found !== undefined) return found;
  throw notFound(`saved query: expected the id of one that you may see, found "${id}"`);
}
