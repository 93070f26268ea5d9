/** A fragment as the commands find and show it. */
import { notFound } from '@platform/base/refusals';
import { type Fragment, FragmentVisibility, type JsonObject } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { type Named, pick } from '../../invocation/find.ts';
import { withOrganizations } from '../../results/names.ts';
import { type Presenter, presenter, timeOf } from '../../results/presenters.ts';

export const fragmentArgument = ['<fragment>', 'name or id'] as const;
export const visibilities: Readonly<Record<string, FragmentVisibility>> = {
  private: FragmentVisibility.PRIVATE,
  public: FragmentVisibility.PUBLIC,
  unlisted: FragmentVisibility.PUBLIC_UNLISTED,
};

const fragmentResult: Presenter<Fragment> = presenter({
  id: (one) => one.id,
  name: (one) => one.name,
  visibility: (one) => Object.keys(visibilities).find((name) => visibilities[name] === one.visibility) ?? 'unknown',
  revision: (one) => one.revision,
  parts: (one) => one.robotPartCount,
  last_updated: (one) => timeOf(one.lastUpdated),
  organization_id: (one) => one.organizationOwner,
});
export const fragmentFields: readonly string[] = [...fragmentResult.fields, 'organization'];

export function shapes(context: Context, fragments: readonly Fragment[]): Promise<JsonObject[]> {
  return withOrganizations(context, fragments.map(fragmentResult.shape));
}

export async function show(context: Context, fragment: Fragment): Promise<void> {
  const [shown] = await shapes(context, [fragment]);
  if (shown !== undefined) context.out.object(shown);
}

export async function all({ cloud, find }: Context, showPublic: boolean): Promise<readonly Fragment[]> {
  const { id: organizationId } = await find.organization();
  return (await (await cloud()).app.listFragments({ organizationId, showPublic })).fragments;
}

export async function named(context: Context, text: string): Promise<Named> {
  return /^[0-9a-f-]{36}$/i.test(text) ? { id: text, name: text } : pick('fragment', text, await all(context, true));
}

export async function current(context: Context, text: string, version?: string): Promise<Fragment> {
  const { id } = await named(context, text);
  const { fragment } = await (await context.cloud()).app.getFragment({ id, version });
  if (fragment === undefined) throw notFound(`fragment: expected one that you may see, found "${text}"`);
  return fragment;
}

export const documentOf = (fragment: Fragment): string => JSON.stringify(fragment.fragment ?? {}, null, 2);
