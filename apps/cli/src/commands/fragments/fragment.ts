/** A fragment as the commands find and show it. */
import { type Fragment, FragmentVisibility, type JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { Context } from '../../invocation/context.ts';
import { type Named, pick } from '../../invocation/find.ts';
import { timeOf } from '../../invocation/presenters.ts';

export const fields: readonly string[] = [
  'id',
  'name',
  'visibility',
  'revision',
  'parts',
  'last_updated',
  'organization_id',
];
export const fragmentArgument = ['<fragment>', 'name or id'] as const;
export const visibilities: Readonly<Record<string, FragmentVisibility>> = {
  private: FragmentVisibility.PRIVATE,
  public: FragmentVisibility.PUBLIC,
  unlisted: FragmentVisibility.PUBLIC_UNLISTED,
};

export function shape(one: Fragment): JsonObject {
  const visibility = Object.entries(visibilities).find(([, value]) => value === one.visibility)?.[0];
  return {
    id: one.id,
    name: one.name,
    visibility: visibility ?? 'unknown',
    revision: one.revision,
    parts: one.robotPartCount,
    last_updated: timeOf(one.lastUpdated),
    organization_id: one.organizationOwner,
  };
}

export async function all({ cloud, find, signal }: Context, showPublic: boolean): Promise<readonly Fragment[]> {
  const { id: organizationId } = await find.organization();
  return (await (await cloud()).app.listFragments({ organizationId, showPublic }, { signal })).fragments;
}

export async function named(context: Context, text: string): Promise<Named> {
  return /^[0-9a-f-]{36}$/i.test(text) ? { id: text, name: text } : pick('fragment', text, await all(context, true));
}

export async function current(context: Context, text: string, version?: string): Promise<Fragment> {
  const { id } = await named(context, text);
  const { fragment } = await (await context.cloud()).app.getFragment(
    { id, ...(version === undefined ? {} : { version }) },
    { signal: context.signal },
  );
  if (fragment === undefined)
    throw new PlatformError('not_found', `fragment: expected one that you may see, found "${text}"`);
  return fragment;
}

export const documentOf = (fragment: Fragment): string => JSON.stringify(fragment.fragment ?? {}, null, 2);
