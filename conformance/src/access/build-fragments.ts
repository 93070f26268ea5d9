/** A fragment of each visibility in each organization, written by a key of that organization. */
import { AppService, FragmentVisibility } from '@platform/proto/platform/app/v1/app';
import { type Client, connect } from '@platform/rpc/client';
import type { Caller, Fragment } from './rules.ts';
import type { Site } from './site.ts';
import { authorizationOn } from './wire-roles.ts';

export type KnownFragment = Fragment & { readonly name: string; readonly revision: string };

export const visibilities = {
  private: FragmentVisibility.PRIVATE,
  public: FragmentVisibility.PUBLIC,
  unlisted: FragmentVisibility.PUBLIC_UNLISTED,
};

export async function buildFragments(site: Site): Promise<ReadonlyMap<string, KnownFragment>> {
  const { cloud, app, canaries, rules } = site;
  const made = new Map<string, KnownFragment>();
  for (const label of ['A', 'B', 'C']) {
    const organization = site.place(label);
    // Everyone reads a public fragment, but only its own organization learns who wrote it.
    const colleague = (caller: Caller): boolean => rules.reads(caller, { id: '', organization, visibility: 'private' });
    const name = canaries.make(`name of the author of ${label}`, colleague);
    const author = await app.createKey({ name, authorizations: [authorizationOn(organization, 'owner')] });
    canaries.watch(author.id, `id of the author of ${label}`, colleague);
    const credentials = { entity: author.id, type: 'api-key', payload: author.key };
    await using link = connect({ baseUrl: cloud.url, credentials });
    for (const visibility of ['private', 'public', 'unlisted'] as const) {
      const key = `F.${label}.${visibility}`;
      made.set(key, await buildFragment(site, link.client(AppService), key, { organization, visibility }));
    }
  }
  return made;
}

async function buildFragment(
  { canaries, rules }: Site,
  author: Client<typeof AppService>,
  key: string,
  { organization, visibility }: Pick<Fragment, 'organization' | 'visibility'>,
): Promise<KnownFragment> {
  const seen = (caller: Caller): boolean => rules.reads(caller, { id: '', organization, visibility });
  const name = canaries.make(`name of fragment ${key}`, seen);
  const attribute = canaries.make(`content of fragment ${key}`, seen);
  const { fragment } = await author.createFragment({
    name,
    organizationId: organization.id,
    config: { components: [{ name: 'f', api: 'rdk:component:sensor', model: 'fake', attributes: { attribute } }] },
    visibility: visibilities[visibility],
  });
  const id = fragment?.id ?? '';
  canaries.watch(id, `id of fragment ${key}`, seen);
  return { id, organization, visibility, name, revision: fragment?.revision ?? '' };
}
